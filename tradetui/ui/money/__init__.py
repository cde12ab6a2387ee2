"""The screen `m`: whether the account makes money, in figures, by symbol, on a calendar and as a chart.

Only `plot` imports the plotting library; it is loaded with the first chart. The application opens `money_screen` and
`trips_screen`.
"""
