"""Top-down specialization of root classes, and deletion of what bounded knowledge could single out."""
