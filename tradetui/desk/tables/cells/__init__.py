"""What a column is: its title, unit, exact text, how it sorts, what its sign means, and how figures are written.

`column` is any column, `figure_columns` those of money, prices and sizes, `number_format` and `cell_format` the text.
Nothing here imports a model.
"""
