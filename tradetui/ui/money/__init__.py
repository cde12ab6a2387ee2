"""The screen `m`: whether the account makes money, in figures, by symbol, on a calendar and as a chart.

`plot` alone imports the library that draws, and is loaded with the first chart; the application opens `money_screen`.
"""
