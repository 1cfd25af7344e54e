"""Classes composed under closeness: a start, and rows that change places."""
