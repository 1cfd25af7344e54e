"""What lint says of a policy and the collection that it is for."""
