"""Models whose scores are not dot products, shipped as what they are made of: see `form`."""
