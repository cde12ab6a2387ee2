"""Creating sub-accounts and keys: a form, a review of what is sent, what became of it, and the keys given out."""
