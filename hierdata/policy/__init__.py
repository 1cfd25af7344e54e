"""The policy: its parts, how it is read and checked, and what it means for a collection."""
