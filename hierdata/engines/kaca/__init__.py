"""KACA: merge the nearest classes of rows under the weighted hierarchical distance."""
