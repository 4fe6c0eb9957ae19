"""Whose process is this? The command line's, or that of a program which uses coclick as a library."""

is_ours = False  # the command line sets it before anything else happens
