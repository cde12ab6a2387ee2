"""Whether an account makes money: what periods of calendar days brought in, sampled equity, and today's result."""
