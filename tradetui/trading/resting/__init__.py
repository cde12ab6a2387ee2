"""A symbol's resting orders and stops: what each does to what is held when its turn comes.

Everything here is arithmetic on orders, stops and holdings; nothing is read and nothing is sent.
"""
