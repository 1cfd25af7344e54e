"""Classes of rows that grow by merging the nearest, under the weighted hierarchical distance (KACA)."""
