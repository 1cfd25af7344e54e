"""Documents: nested plain data, which every package may use, and how it is read and written."""
