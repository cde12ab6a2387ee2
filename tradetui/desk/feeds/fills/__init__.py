"""The fills of a session: read back to what is known, without gap or repetition, and gathered by their order.

`fills_reader` is the feed's, `fill_history` pages back for one product type, `corrections` says which fills came with
other figures. Positions of accounts without the wider interface are rebuilt from here.
"""
