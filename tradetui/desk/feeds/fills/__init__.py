"""The fills of a session: read back to what is known, without gap or repetition, and gathered by their order.

`fills_reader` is the feed's, `fill_history` pages back for one product type, `undecodable_pages` goes around what
cannot be read. Positions of accounts without the wider interface are rebuilt from here.
"""
