"""One system a file; the registry finds it by its file name."""
