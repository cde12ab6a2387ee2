"""`tradetui show`: its options, and the rows read and printed.

`options` parses the options and makes requests, `reading` reads any endpoint, `show_results` shows results of fills.
`cli` uses this package, and `completions` its parser.
"""
