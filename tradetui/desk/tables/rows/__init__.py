"""What stands in a table: records under their product type, fills gathered by order, and sources of them."""
