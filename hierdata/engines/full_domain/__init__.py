"""Full-domain search over all combinations of depths, one depth for each quasi-identifier."""
