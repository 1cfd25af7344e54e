"""Buckets of rows with similar values: classes drawn from them, and bounds on publication (LE)."""
