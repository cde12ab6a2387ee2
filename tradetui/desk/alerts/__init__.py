"""Alerts: what of a session is worth a word, in one sentence, and who hears of it.

`rules` says what a person wants to hear and by which channels; `watch` and `threshold_watch` make events of what the
feeds bring; `alerts` (the door) matches the two, shows them in this session, and shares desktop and command with the
account's other sessions by `claims`. The desk and the screens look in by `alerts`, `rules` and `event` alone.
"""
