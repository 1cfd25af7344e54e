"""Buckets of rows with similar values: how classes are drawn from them, and what can be published (LE)."""
