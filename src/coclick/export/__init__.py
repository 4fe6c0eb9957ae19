"""What coclick has learned, in the words of search engines."""
