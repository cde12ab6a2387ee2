"""The default columns of each table, one file a panel's record; nothing here imports a model."""
