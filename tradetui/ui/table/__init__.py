"""Tables of records on Textual's line API: cells, lines, sorting and filtering, and what keys do to rows."""
