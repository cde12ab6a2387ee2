"""The rows of tables: records with their product type, fills grouped by order, and sources of rows."""
