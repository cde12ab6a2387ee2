"""Whether an account makes money: what a period of calendar days brought in, sampled equity, and the result of today.

Figures are in USDT where a coin's worth is known. It reads the archive's file and sends nothing; the screen, alerts and
commands look in.
"""
