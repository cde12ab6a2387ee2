"""The endpoints by area, one coroutine each, and an iterator over pages for each paged one."""
