"""What each table shows where nobody chose, one file a panel's record; nothing here imports a model."""
