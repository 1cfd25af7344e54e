"""Nested plain data, the one noun that every room may use, and how it is read and written."""
