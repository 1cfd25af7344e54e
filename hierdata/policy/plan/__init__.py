"""What a policy means for one collection."""
