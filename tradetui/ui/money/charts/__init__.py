"""The chart of a period: its data, its axes, and the plotting library, which only `plot` imports."""
