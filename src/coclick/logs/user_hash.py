"""Hash user ids with a secret key, so that they match from day to day but do not tell who the user is.

The key is a line of hexadecimal digits in a file of its own. It is never written anywhere else.
"""

from __future__ import annotations

import os
import re
import secrets
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from coclick.errors import UserError

_KEY_BYTES = 32
_DIGEST_BYTES = 16
_MAX_KEY_BYTES = blake2b.MAX_KEY_SIZE
_MAKE_ONE = "make one with `openssl rand -hex 32 > FILE`"


def hash_names(names: Iterable[str], key: bytes) -> list[str]:
    """Return the keyed BLAKE2b digests of names, 128 bits as 32 hexadecimal digits."""
    return [
        blake2b(name.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES, key=key).hexdigest()
        for name in names
    ]


def load_key(key_file: Path | None) -> bytes:
    """Return the key in a file, or the user's own key, which is made when it is first needed."""
    return _read(key_file) if key_file is not None else _own_key(_own_key_path())


def _own_key_path() -> Path:
    """The file of the user's own key, in the configuration directory of the platform."""
    from platformdirs import user_config_path

    try:
        return user_config_path("coclick").expanduser() / "user_ids.key"
    except RuntimeError:  # there is no home directory
        hint = f"name a file with --key-file FILE (in Python: key_file); {_MAKE_ONE}"
        raise UserError("there is no home directory to keep the key for user ids in", hint=hint) from None


def _own_key(path: Path) -> bytes:
    """Read the key; make it if there is none. Processes that make it at the same time get the same one."""
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _create(path)
    except OSError as error:
        raise UserError(
            f"the key for user ids cannot be made: {error.strerror}",
            where=str(path),
            hint=f"name a file with --key-file FILE (in Python: key_file); {_MAKE_ONE}",
        ) from None
    return _read(path)


def _create(path: Path) -> None:
    """Write a new key to a file that only its owner can read, unless another process is faster."""
    descriptor, name = tempfile.mkstemp(prefix=".key-", dir=path.parent)  # readable by its owner only
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as stream:
            stream.write(secrets.token_hex(_KEY_BYTES) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        with suppress(FileExistsError):
            os.link(name, path)  # unlike a rename, fails if the file exists
    finally:
        Path(name).unlink()


def _read(path: Path) -> bytes:
    where = str(path)
    try:
        with path.open("rb") as stream:
            content = stream.read(4 * _MAX_KEY_BYTES).strip()
    except OSError as error:
        message = f"the key file cannot be read: {error.strerror}"
        raise UserError(message, where=where, hint=_MAKE_ONE) from None
    if not re.fullmatch(rb"(?:[0-9a-fA-F]{2})*", content):
        hint = f"restore it from a backup, or {_MAKE_ONE}: a new key gives users new digests"
        raise UserError(
            "the key file is damaged: it must be a line of hexadecimal digits", where=where, hint=hint
        )
    if not 2 * _KEY_BYTES <= len(content) <= 2 * _MAX_KEY_BYTES:
        size = "short" if len(content) < 2 * _KEY_BYTES else "long"
        raise UserError(
            f"the key is too {size}: {len(content)} hexadecimal digits",
            where=where,
            hint=f"a key has {2 * _KEY_BYTES} to {2 * _MAX_KEY_BYTES}; {_MAKE_ONE}",
        )
    return bytes.fromhex(content.decode("ascii"))
