"""`tradetui show`: its options, its requests, and the rows read and printed.

`options` is its parser, `requests` and `reading` work for every endpoint, `show_results` shows results of fills.
`cli` looks in, and `completions` at the parser.
"""
