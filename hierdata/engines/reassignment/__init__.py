"""Records change their classes, whose sizes stay: what engines for t-closeness share (TC section 4)."""
