"""Sweep: close classes at lattice nodes by rising loss, gather the other rows, improve classes."""
