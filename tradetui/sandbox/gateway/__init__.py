"""What a request meets before it is answered: signature, permissions, limits, and faults on demand."""
