"""Settings: their model, loading, secrets and writing."""
