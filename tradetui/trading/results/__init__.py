"""Trading results: figures by quarter-hour, closing orders, round trips, and the periods they are summed over.

All arithmetic is on fills in `Decimal`; it reads no clock and no file. The archive stores the results.
"""
