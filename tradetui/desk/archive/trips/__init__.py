"""What the archive knows of a round trip beside its fills: what opened and closed it, and its funding."""
