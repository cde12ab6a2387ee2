"""The endpoints as methods: a coroutine for each, and an iterator over pages for each paged one.

`methods` makes a method of a request, whose parameters and rules it takes over; `areas` lists them, area by area.
An area asks through the client's `read`, `pages` and `write` alone.
"""
