"""Alerts: what of a session is worth a word, in one sentence, and who hears of it.

`rules` says what a person wants to hear and by which channels; `detection` makes events of what the feeds bring;
`alerts` (the door) matches the two and shows them in this session, and `delivery` shares desktop and command with the
account's other sessions by `alert_log`. The desk and the screens look in by `alerts`, `settings`, `rules` and
`alert_event` alone.
"""
