"""Who may write: only the studio's own page.

A page of another site can make a browser send requests here. Browsers say in `Origin` which page that was,
and it must be an address of this server. Without an API key the server's address must not be a domain name,
either: the owner of a domain can let it point to this machine, and would then have the same origin.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from starlette.requests import Request

from coclick.service.errors import ForbiddenError


class SameOrigin:
    """A dependency of routes that write."""

    def __init__(self, has_key: bool) -> None:
        self._has_key = has_key

    async def __call__(self, request: Request) -> None:
        """Raise unless the request comes from a page of this server."""
        host = request.headers.get("host", "")
        origin = request.headers.get("origin", "")
        site = request.headers.get("sec-fetch-site", "same-origin")
        if not origin or urlsplit(origin).netloc != host or site != "same-origin":
            raise ForbiddenError(
                "only the studio's own page may write",
                where=origin or None,
                hint="open the studio at the address of the server; a proxy must keep the Host header",
            )
        if not self._has_key and not _is_fixed(host):
            raise ForbiddenError(
                "writing needs an API key at this address",
                where=host,
                hint="start the server with --api-key-file, or open the studio at http://localhost",
            )


def _is_fixed(host: str) -> bool:
    """Whether DNS cannot change where a host name points: localhost, or an IP address."""
    name = urlsplit(f"//{host}").hostname or ""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name == "localhost"
    return True
