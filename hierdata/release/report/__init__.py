"""The published and the steward's files as models, and their rendering. Computes nothing."""
