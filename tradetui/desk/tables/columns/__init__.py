"""The default columns of each table and the sums below them, one file for each panel; imports no model."""
