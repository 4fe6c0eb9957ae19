"""The format of the log of the service: no text in it can control a terminal."""

from __future__ import annotations

import logging

from coclick.text.printable import printable


class PrintableFormatter(logging.Formatter):
    """Write messages and tracebacks without control characters: they quote models and requests."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        return printable(super().format(record))
