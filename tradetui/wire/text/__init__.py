"""Text in and out: JSON without loss of digits, exact decimals, and what is safe to show."""
