"""Algorithms 1 and 2 of ML on packed arrays, shared by the clustering engines."""
