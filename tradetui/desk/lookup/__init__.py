"""Records that are looked up rather than watched: spot, converts, transfers, e-mail.

In it: what is asked for, and a lookup that loads older pages as somebody looks at them.
It looks at feeds and the account; only the desk and the screen look in.
"""
