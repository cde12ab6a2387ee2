"""The screens of what is looked up, and the form that asks for it."""
