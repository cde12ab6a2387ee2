"""How requests are made: strict, each parameter held to its rule before anything is sent."""
