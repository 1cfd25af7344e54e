"""Mondrian: recursive cuts of the rows of one vertex type."""
