"""The ground floor beside `wire`, for every room that stores files on this machine."""
