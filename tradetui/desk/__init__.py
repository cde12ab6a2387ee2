"""A running session of one account: feeds, intents and their journal, execution, archive and columns."""
