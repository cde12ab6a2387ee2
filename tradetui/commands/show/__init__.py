"""`tradetui show`: what may be asked for, the requests made of it, and the rows read and printed.

`options` is its parser, `requests` and `reading` work for every endpoint, `show_results` shows what fills brought in.
`cli` looks in, and `completions` at the parser.
"""
