"""One run over a collection, a file for each step; read ``anonymize`` first."""
