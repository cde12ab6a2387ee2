"""The ground floor beside `wire`: what every room that keeps something on this machine stands on."""
