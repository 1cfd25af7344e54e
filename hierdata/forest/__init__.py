"""Records as integer arrays, and what engines and recodings make of them."""
