"""Compiled loops over arrays; they know nothing of hierdata."""
