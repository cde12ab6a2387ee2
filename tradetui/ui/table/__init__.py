"""Tables of records on Textual's line API: cursor, cells, lines, sorting and filtering, and what keys do to rows."""
