"""Inspect a collection without a policy: profile its fields, estimate risks, and draft a policy."""
