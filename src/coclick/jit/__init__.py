"""The compiler and its cache, threads, vector instructions, selection of the largest."""
