"""How accounts change: orders and triggers that meet the market, and the reversal with its faults.

Every step goes through `FuturesBook.execute`, so that the books balance. The exchange's state looks in, and
`reply_rows` for the moment it shows; nothing here knows a request.
"""
