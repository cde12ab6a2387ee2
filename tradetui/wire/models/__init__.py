"""The rows of every endpoint, each with its request; the request's docstring gives the endpoint's number."""
