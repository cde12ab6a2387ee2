"""What `show` and `journal` print: rows of the catalogue, of positions and of merged streams, as JSON or CSV."""
