"""Recursive cuts of the rows of one vertex type: what the engines share that work from the whole down."""
