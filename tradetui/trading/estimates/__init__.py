"""Costs and risks of a reversal, as far as the rows read allow, and its actual figures once it has ended.

Everything here is arithmetic in `Decimal`; an amount that cannot be known is None, never zero.
"""
