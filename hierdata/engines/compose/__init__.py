"""Compose classes under closeness: a start, then exchanges of rows."""
