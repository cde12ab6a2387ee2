"""The reversal dialog: the preview before anything is sent, and the outcome."""
