"""Whether an account makes money: results of calendar periods, sampled equity, and today's result."""
