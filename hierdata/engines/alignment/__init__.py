"""Algorithms 1 and 2 of ML over packed arrays: what the clustering engines share."""
