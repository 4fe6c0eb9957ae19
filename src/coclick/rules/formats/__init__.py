"""The files of search engines, a module for each: rules to text."""
