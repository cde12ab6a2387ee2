"""Tables of records on Textual's line API, and the screens around them.

`record_table` is the widget: it draws what `table_model` holds by `table_lines`, and `table_frame` is its border.
`table_screen` is the base of every screen with a table, `desk_screen` of every screen of an open account.
"""
