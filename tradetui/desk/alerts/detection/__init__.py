"""Sees in what the desk reads what alerts are about, and puts each event into one sentence.

`alert_detector` sees fills, orders, stops, the link and reversals; `threshold_detector` sees levels that are crossed.
It delivers nothing: `alerts` beside this room looks in, and the event log takes its sentences.
"""
