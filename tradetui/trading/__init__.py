"""Pure rules: positions from fills, the reversal plan, sizes and money."""
