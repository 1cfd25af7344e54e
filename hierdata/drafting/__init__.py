"""A look at a collection that has no policy yet: what its fields are and tell, and a draft."""
