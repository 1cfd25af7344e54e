"""Lint: findings about a policy and the collection that it is for."""
