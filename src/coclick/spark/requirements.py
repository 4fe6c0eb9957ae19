"""Check what Spark needs before it starts: packages, Java, version and master."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import socket
from urllib.parse import urlsplit

from coclick.errors import UserError

MIN_SPARK = (4, 1)  # the first with repartitionById
_INSTALL = 'pip install "coclick[spark]"'
_CONNECT_TIMEOUT = 10  # seconds


def check_packages() -> None:
    """Raise if a package of the extra `spark` is missing or too old."""
    for package in ("pyspark", "pyarrow", "pandas"):
        try:
            importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            raise UserError(f"the Spark engine needs {package}", hint=_INSTALL) from None
    check_version(importlib.metadata.version("pyspark"))


def check_java() -> None:
    """Raise if Java is missing; Spark's own message is hard to read."""
    home = os.environ.get("JAVA_HOME")
    if not (home and shutil.which("java", path=f"{home}/bin")) and not shutil.which("java"):
        raise UserError(
            "Spark needs Java, and none was found",
            hint="install Java 17 or later, for example openjdk-17-jre-headless, or set JAVA_HOME",
        )


def check_version(version: str) -> None:
    """Raise if this version of Spark is too old."""
    if tuple(int(part) for part in version.split(".")[:2]) < MIN_SPARK:
        least = ".".join(map(str, MIN_SPARK))
        raise UserError(f"Spark {least} or later is required, and this is Spark {version}", hint=_INSTALL)


def check_master(master: str) -> None:
    """Raise if the master does not accept connections: Spark itself retries for minutes."""
    if master.startswith("local") or "://" not in master:
        return
    for host, port in _addresses(master):
        try:
            socket.create_connection((host, port), timeout=_CONNECT_TIMEOUT).close()
            return
        except OSError as error:
            reason = error.strerror or str(error)
    raise UserError(
        f"cannot connect to the Spark master: {reason}",
        where=master,
        hint="check the address and that the cluster is running; local[2] runs on this machine",
    )


def _addresses(master: str) -> list[tuple[str, int]]:
    """The hosts and ports of a master such as spark://a:7077,b:7077 or k8s://https://a:443."""
    scheme, _, rest = master.partition("://")
    if scheme == "k8s":
        url = urlsplit(rest if "://" in rest else f"https://{rest}")
        return [(url.hostname or "", url.port or 443)]
    if scheme != "spark":
        raise UserError(f"unknown master {master!r}", hint="for example local[4], spark://host:7077 or yarn")
    found = [host.rpartition(":") for host in rest.split(",")]
    if not all(host and port.isdigit() for host, _, port in found):
        raise UserError(f"the master {master!r} has no host and port", hint="spark://host:7077")
    return [(host, int(port)) for host, _, port in found]
