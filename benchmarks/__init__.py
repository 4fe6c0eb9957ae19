"""Speed beside the libraries one would use instead. `python -m benchmarks --help`."""
