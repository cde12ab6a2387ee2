"""The chart of a period: what is drawn of its results, its axes, and the library, which `plot` alone knows."""
