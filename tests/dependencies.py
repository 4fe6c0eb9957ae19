"""Print the installed version of everything that coclick and its extras need, as pinned requirements.

    python tests/dependencies.py [EXTRA…]     # without extras: `all`

`make sbom` and `make audit` read this list. .venv also has tools for development, which users do not
install.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution

from packaging.requirements import Requirement


def needed(package: str, extras: Iterable[str]) -> dict[str, str]:
    """Return {name: version} of the installed distributions that a package needs, without itself."""
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    left = [(package, extra) for extra in ("", *extras)]
    while left:
        name, extra = left.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        try:
            installed = distribution(name)
        except PackageNotFoundError:
            sys.exit(f"{name} is not installed: run make setup")
        found[name] = installed.version
        for line in installed.requires or ():
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                left += [(canonical(requirement.name), more) for more in ("", *requirement.extras)]
    del found[package]
    return found


def canonical(name: str) -> str:
    """Return the name of a distribution in the form that all spellings of it share."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    for name, version in sorted(needed("coclick", sys.argv[1:] or ["all"]).items()):
        print(f"{name}=={version}")
