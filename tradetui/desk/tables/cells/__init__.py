"""What a column is, and how the text in it is written; nothing here imports a model."""
