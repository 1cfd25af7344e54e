"""ClusTree and MLevCluTree: greedy clustering of trees around seed records (ML section 4)."""
