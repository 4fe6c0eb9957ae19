"""Programs that exports bring along: they load, check and roll back a folder.

`coclick.exporters.program_files` copies them into a folder, as the package `programs` beside `run.py`. They
run on Python 3.10 and later, without coclick. Those of Qdrant and tantivy need the package of that name, the
others only the standard library.
"""
