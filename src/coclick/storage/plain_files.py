"""Open the files of an artefact: only regular files, and only inside its directory.

An artefact may come from a stranger. A device or a pipe in place of a file would block or never end, and a
symbolic link, of a file or of a directory on the way to it, would lead outside. Neither is followed. The
directory of the artefact itself is named by the user and may be a link, such as `current`.

Hard links are followed: they are how a model shares the files of its graph, and no file is ever written
through them. A link to a file outside shows at most what the user may read anyway, as numbers of an array
whose header has to match the manifest.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from coclick.errors import ArtefactError

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe would wait for its writer


def open_plain(directory: Path, name: str) -> BinaryIO:
    """Open a file of an artefact for reading; `name` may have one directory in front.

    Raises FileNotFoundError if it is missing, ArtefactError if it is no regular file or cannot be opened.
    """
    path = directory / name
    try:
        check_folder_of(directory, name)
        descriptor = os.open(path, _FLAGS)
    except FileNotFoundError:
        raise
    except OSError as error:
        if path.is_symlink():
            raise _not_plain(path) from None
        raise ArtefactError(f"cannot be read: {error.strerror}", where=str(path)) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _not_plain(path)
    return os.fdopen(descriptor, "rb")


def size_of_plain(directory: Path, name: str) -> int:
    """Return the size of a file of an artefact; errors as of `open_plain`."""
    path = directory / name
    check_folder_of(directory, name)
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise _not_plain(path)
    return status.st_size


def check_folder_of(directory: Path, name: str) -> None:
    """Raise if the directory in front of a file's name is a link or no directory."""
    folder, _, _ = name.rpartition("/")
    if folder and not stat.S_ISDIR((directory / folder).lstat().st_mode):
        raise ArtefactError("not a plain directory", where=str(directory / folder))


def _not_plain(path: Path) -> ArtefactError:
    return ArtefactError("not a plain file", where=str(path))
