"""Measure a table without a policy, and a release from its files."""
