"""The models, one folder per family; `base` holds the class they share, `registry` finds them by name."""
