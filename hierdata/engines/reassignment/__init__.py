"""Engines for t-closeness that move records between classes and keep class sizes (TC section 4)."""
