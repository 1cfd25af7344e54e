"""Records as integer arrays, and the partitions and publications made from them."""
