"""Bounded knowledge in the judge: facts, patterns of facts, and the records that match them."""
