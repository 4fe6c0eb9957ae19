"""The systems, a folder for each family; `base` holds what they share and the table of their names."""
