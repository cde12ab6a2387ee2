"""The fills of a session: read back to the newest known one without gaps or repetitions, and grouped by order.

`fills_reader` is the feed, and `fill_history` reads pages for one product type. Positions are summed from here if the
exchange does not report them.
"""
