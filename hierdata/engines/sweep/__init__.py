"""What ``sweep`` is made of: lattice nodes by rising loss, rows that are gathered, classes that lose less."""
