"""Arguments of the command line that have to be read before the library can take them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from coclick.cli.terminal import say
from coclick.errors import UserError

if TYPE_CHECKING:
    from coclick.models.base import Model


def listed_docs(path: Path | None, model: Model) -> list[str] | None:
    """The documents that a file lists, one id a line."""
    if path is None:
        return None
    try:
        ids = list(filter(None, path.read_text(encoding="utf-8-sig").split("\n")))
    except OSError as error:
        raise UserError(f"the list of documents cannot be read: {error.strerror}", where=str(path)) from None
    except UnicodeDecodeError:
        raise UserError("the list of documents is not UTF-8 text", where=str(path)) from None
    if ids and (model.graph_.docs.lookup(ids) < 0).all():
        say(f"note: no document of the model is listed in {path}, which has {ids[0]!r}")
    return ids


def action_weights(text: str | None) -> dict[str, float] | None:
    """`click=1,cart=3` as a table."""
    if text is None:
        return None
    weights = {}
    for part in text.split(","):
        name, _, weight = (piece.strip() for piece in part.partition("="))
        try:
            weights[name] = float(weight)
        except ValueError:
            raise UserError(
                f"cannot read the action {part.strip()!r}",
                where="--actions",
                hint="write click=1,cart=3,purchase=10",
            ) from None
    return weights
