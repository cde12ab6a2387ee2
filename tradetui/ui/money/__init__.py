"""The screen `m`: whether the account makes money, in figures, by symbol, on a calendar and as a chart.

`plot` alone imports the library that draws, and is loaded with the first chart. The application opens
`money_screen` and `trips_screen`.
"""
