"""Classes that satisfy (delta,l)-diversity with the least suppression (DL)."""
