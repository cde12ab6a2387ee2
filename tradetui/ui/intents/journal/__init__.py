"""The journal on the screen: intents, one intent in full, the deliberate release, and a journal that cannot be used."""
