"""Figures of a table without a policy, and of a release from its files."""
