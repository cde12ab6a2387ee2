"""Costs and risks of a reversal, as far as the rows read allow, and its actual figures afterwards.

All arithmetic is in `Decimal`; an unknown amount is None, never zero.
"""
