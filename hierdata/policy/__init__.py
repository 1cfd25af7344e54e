"""What was asked for: the policy, its parts, how it is read and checked, what it means for a collection."""
