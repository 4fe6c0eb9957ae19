"""Commands of the command line, by what they are for; `coclick.cli` gathers them."""
