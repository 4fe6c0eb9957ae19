"""Vector propagation on the click graph."""
