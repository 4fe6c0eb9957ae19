"""Which names the service answers for: the `Host` header of a request.

A web page can let its own domain point to this machine (DNS rebinding): its scripts then read the answers
as if they came from their own site. The browser still sends the page's domain as `Host`, so it is refused.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

from coclick.errors import UserError

ANY = "*"
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?")


class AllowedHosts:
    """Names of this machine's loopback interface, and those that the user allows; `*` allows all."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = frozenset(map(_canonical, names))

    def allows(self, host: str | None) -> bool:
        """Whether a request with this header may be answered."""
        if ANY in self._names:
            return True
        found = _HOST.fullmatch(host or "")
        if not found:
            return False
        name = _canonical(found["name"])
        return is_loopback(name) or name in self._names


def is_loopback(name: str) -> bool:
    """Whether a name or address can only mean this machine."""
    try:
        return ipaddress.ip_address(_canonical(name)).is_loopback
    except ValueError:
        return _canonical(name) == "localhost"


def check_allowed(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of `--allowed-host`; raise if one cannot be a host."""
    checked = tuple(names)
    for name in checked:
        found = _HOST.fullmatch(name)
        if name != ANY and not (found and found["name"] == name) and not _is_address(name):
            raise UserError(
                f"{name!r} is not a host",
                where="--allowed-host",
                hint="write a name such as search.example.com, without http:// and without a port",
            )
    return checked


def hosts_for(address: str, allowed: tuple[str, ...], has_key: bool) -> tuple[str, ...]:
    """Return the names to answer for at the address that the service listens on.

    On other interfaces than loopback the names, or a key, must be given: without either, every page that a
    colleague opens could read the log.
    """
    if allowed or is_loopback(address):
        return allowed
    if not has_key:
        raise UserError(
            "without an API key, the service must know the host names that it answers for",
            where=f"--host {address}",
            hint="name them with --allowed-host NAME, or set a key with --api-key-file FILE",
        )
    return (ANY,)  # a page of another site does not have the key


def _canonical(name: str) -> str:
    return name.lower().rstrip(".").strip("[]")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
