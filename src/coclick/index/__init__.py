"""Top-k search over vectors: sparse, dense, approximate."""
