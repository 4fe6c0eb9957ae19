"""A folder with one folder for each version, and a link `current` that is swapped at once.

    FOLDER/current              link to versions/VERSION
    FOLDER/versions/VERSION     what `Build` makes, and coclick.json with the version before

A version is built in a hidden folder and renamed when it is complete, so an interrupted load changes nothing.
Its name is the version of its documents. For a model without vectors, that of its rankings is added, and
`search` has the program that asks.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from coclick.exporters.programs.engine import Settings, read_json, run_command, stop

_VERSION = re.compile(r"[0-9a-f]{12}(-[0-9a-f]{12})?")

# Fill the new folder of a version. Arguments: that folder; that of the export; settings; that of the base.
Build = Callable[[Path, Path, Settings, Path | None], None]


def run_program(
    commands: Mapping[str, Callable[..., None]], folder: Path, arguments: list[str], package: str
) -> None:
    """Run `run.py FOLDER COMMAND`, with a package that must be installed."""
    if len(arguments) != 2 or arguments[1] not in commands:
        names = "".join(f"\n    {name:10}{command.__doc__}" for name, command in commands.items())
        stop(f"usage: python3 run.py FOLDER COMMAND, with the folder of all versions and one of{names}")
    try:
        __import__(package)
    except ImportError:
        stop(f"{package} is missing: run `pip install {package}`")
    try:
        run_command(commands, arguments[1], Path(arguments[0]), folder)
    except (OSError, ValueError) as error:
        stop(f"{arguments[0]}: {error}")


def load_version(place: Path, folder: Path, settings: Settings, build: Build) -> None:
    """Build the version of an export and make it the current one."""
    version, base = _name(settings), settings["base_version"]
    current = current_version(place)
    if base and (current or "").split("-")[0] not in (base, settings["version"]):
        stop(
            f"this increment changes version {base}, but the loaded version is {current or 'none'}: "
            "load the increments in between, or a whole export"
        )
    if current == version:
        print(f"version {version} is loaded already")
        return
    if (place / "current").exists() and current is None:
        stop(f"{place / 'current'} is not a link of coclick: choose another folder")
    target = place / "versions" / version
    if not target.exists():
        part = place / "versions" / f".part-{version}"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        if "search_version" in settings:
            shutil.copytree(folder / "search", part / "search")
        build(part, folder, settings, place / "versions" / str(current) if base else None)
        part.replace(target)
    _write(target / "coclick.json", json.dumps({"version": version, "previous": current}))
    _point_to(place, version)
    kept = (version, current)
    for old in (place / "versions").iterdir():
        if old.name not in kept and _VERSION.fullmatch(old.name.removeprefix(".part-")):
            shutil.rmtree(old)
    print(f"version {version} is loaded: {settings['documents']:,} documents")


def rollback(place: Path, folder: Path, settings: Settings) -> None:
    """Make the version before the current one; do nothing if this version is not the current one."""
    version = _name(settings)
    if current_version(place) != version:
        print(f"version {version} is not loaded: there is nothing to roll back")
        return
    previous = read_json(place / "versions" / version / "coclick.json")["previous"]
    if previous is None or not (place / "versions" / previous).exists():
        stop(f"no version before {version} is kept: load the folder of an older export instead")
    _point_to(place, previous)
    shutil.rmtree(place / "versions" / version)
    print(f"version {previous} is loaded again")


def remove(place: Path, folder: Path, settings: Settings) -> None:
    """Delete all versions."""
    if current_version(place) is not None:
        (place / "current").unlink()
    shutil.rmtree(place / "versions", ignore_errors=True)
    print(f"all versions in {place} are deleted")


def current_version(place: Path) -> str | None:
    """Return the version that the link points to; None if there is none."""
    link = place / "current"
    version = link.readlink().name if link.is_symlink() else ""
    return version if _VERSION.fullmatch(version) else None


def _name(settings: Settings) -> str:
    return "-".join(settings[key] for key in ("version", "search_version") if key in settings)


def _point_to(place: Path, version: str) -> None:
    """Swap the link in one step."""
    new = place / ".current-new"
    new.unlink(missing_ok=True)
    new.symlink_to(Path("versions") / version, target_is_directory=True)
    new.replace(place / "current")


def _write(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
