"""`python -m coclick`: the command line."""

from coclick.cli import main

main()
