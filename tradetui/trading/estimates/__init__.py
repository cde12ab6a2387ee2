"""What a reversal will cost and put at risk, as far as what was read allows, and what it did once it has ended.

Everything here is arithmetic on what was read, in `Decimal`; an amount that cannot be known is None, never zero.
"""
