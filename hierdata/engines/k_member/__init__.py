"""K-member clustering of trees: class sizes, proposals, drafts and leftovers."""
