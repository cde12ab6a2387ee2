"""The default columns of each table and the sums under them, one file a panel's record; nothing imports a model."""
