"""Keeps what several machines share in a PostgreSQL server. Only this room imports psycopg, the extra `store`."""
