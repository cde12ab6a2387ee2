"""Events of the account: detected, kept in one log that `watch` reads, and reported as alerts in one sentence each.

`detector` and `thresholds` make events from the feeds, and `sentences` formats them. `event_log` keeps events in the
archive. `alerts` matches them with the profile's `rules` and shows them in this session. `delivery` shares desktop and
command with the account's other sessions through that log.
"""
