"""Pure rules: positions from fills, what positions and accounts are worth, the reversal plan, sizes and money."""
