"""Text in and out: JSON without loss of digits, exact decimals, and text that is safe to show."""
