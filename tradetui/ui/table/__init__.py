"""Tables of records on Textual's line API: cursor, cells, lines, sorting and filtering, and the screens around them."""
