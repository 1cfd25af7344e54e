"""Full-domain search: all combinations of depths, one for each quasi-identifier."""
