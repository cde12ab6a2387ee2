"""Alerts: events of a session that are reported, in one sentence, and their delivery.

`rules` holds what the profile says of them; `detection` makes events of the rows of the feeds; `alerts` (the door)
matches the two and shows them in this session, and `delivery` shares desktop and command (`user_program`) with the
account's other sessions by `alert_log`. The desk and the screens look in by `alerts`, `rules` and `alert_event` alone.
"""
