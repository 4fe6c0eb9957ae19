"""Views of queries and documents as sparse matrices."""
