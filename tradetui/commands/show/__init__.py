"""`tradetui show`: its options, and the rows read and printed.

`options` is its parser and makes its requests, `reading` works for every endpoint, `show_results` shows results of
fills. `cli` looks in, and `completions` at the parser.
"""
