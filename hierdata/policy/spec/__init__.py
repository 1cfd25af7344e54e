"""The parts of a policy, as a file states them."""
