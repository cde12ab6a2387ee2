"""The calendar: a month of days as a grid, and the panel that a cursor moves on."""
