"""Policies compared: what each keeps of a collection and lets be guessed, and what each promise costs."""
