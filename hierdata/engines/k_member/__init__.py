"""What k-member clustering of trees is made of: sizes, proposals, drafts, and late joiners."""
