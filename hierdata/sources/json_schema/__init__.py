"""Input records held against a JSON Schema."""
