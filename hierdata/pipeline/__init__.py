"""A run over a collection, with one file per step; read ``anonymize`` first."""
