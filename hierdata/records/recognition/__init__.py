"""Recognition of what fields are by their names and values: persons, keys, direct identifiers, things."""
