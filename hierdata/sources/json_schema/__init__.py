"""Check input records against a JSON Schema."""
