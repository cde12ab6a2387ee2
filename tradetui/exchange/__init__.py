"""The client: one signed call, its rate budget, the clock offset, and the thirteen endpoints as coroutines."""
