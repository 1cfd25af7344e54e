"""Compiled loops of the alignment; they depend on arrays only."""
