"""What Spark needs before it can start, and what people hear when something of it is missing."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import socket
from urllib.parse import urlsplit

from coclick.errors import UserError

LEAST_SPARK = (4, 1)  # which can put a row into the partition that it names
_INSTALL = 'pip install "coclick[spark]"'
_REACHED_WITHIN = 10  # seconds


def check_packages() -> None:
    """Raise if what the extra brings is missing or too old."""
    for package in ("pyspark", "pyarrow", "pandas"):
        try:
            importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            raise UserError(f"the Spark engine needs {package}", hint=_INSTALL) from None
    check_version(importlib.metadata.version("pyspark"))


def check_java() -> None:
    """Raise if there is no Java, before Spark says so in its own way."""
    home = os.environ.get("JAVA_HOME")
    if not (home and shutil.which("java", path=f"{home}/bin")) and not shutil.which("java"):
        raise UserError(
            "Spark needs Java, and there is none",
            hint="install Java 17 or later, for example openjdk-17-jre-headless, or set JAVA_HOME",
        )


def check_version(version: str) -> None:
    """Raise if a version of Spark is too old."""
    if tuple(int(part) for part in version.split(".")[:2]) < LEAST_SPARK:
        least = ".".join(map(str, LEAST_SPARK))
        raise UserError(f"this is Spark {version}, and {least} or later is needed", hint=_INSTALL)


def check_master(master: str) -> None:
    """Raise if nobody answers there: Spark itself would try for minutes."""
    if master.startswith("local") or "://" not in master:
        return
    for host, port in _addresses(master):
        try:
            socket.create_connection((host, port), timeout=_REACHED_WITHIN).close()
            return
        except OSError as error:
            reason = error.strerror or str(error)
    raise UserError(
        f"no Spark master answers: {reason}",
        where=master,
        hint="check the address and that the cluster runs; local[2] runs on this machine",
    )


def _addresses(master: str) -> list[tuple[str, int]]:
    """The hosts of spark://a:7077,b:7077; a Kubernetes master is an address in an address."""
    scheme, _, rest = master.partition("://")
    if scheme == "k8s":
        url = urlsplit(rest if "://" in rest else f"https://{rest}")
        return [(url.hostname or "", url.port or 443)]
    if scheme != "spark":
        raise UserError(f"there is no master {master!r}", hint="like local[4], spark://host:7077 or yarn")
    found = [host.rpartition(":") for host in rest.split(",")]
    if not all(host and port.isdigit() for host, _, port in found):
        raise UserError(f"the master {master!r} names no host and port", hint="spark://host:7077")
    return [(host, int(port)) for host, _, port in found]
