"""What happens to the account: detected, kept in one log that `watch` reads, and reported as alerts in one sentence.

`detector` and `thresholds` make events of what the feeds bring, and `sentences` the words for them. `event_log` keeps
events in the archive. `alerts` matches them with the `rules` of the profile and shows them in this session, and
`delivery` shares desktop and command with the account's other sessions by that log.
"""
