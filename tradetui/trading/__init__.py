"""Pure rules: positions from fills, figures of positions and accounts, the reversal plan, sizes and money."""
