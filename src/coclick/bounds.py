"""What was opened from a file leads nowhere but into its own arrays: checked by reading all of it.

Opening an artefact checks its manifest and sizes only, in milliseconds. Work that reads everything anyway
(training, adding documents) and `coclick verify` check the content, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from coclick.errors import ArtefactError
from coclick.graph import ClickGraph
from coclick.sparse import Csr
from coclick.store import Artefact
from coclick.strings import Strings


def out_of_bounds(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """(part, what is wrong) for all that would lead outside an array or is not a number."""
    if isinstance(value, Csr):
        if problem := value.problem():
            yield name, problem
    elif isinstance(value, Strings):
        if np.any(np.diff(value.offsets) < 0):
            yield name, "offsets fall"
    elif isinstance(value, ClickGraph):
        yield from out_of_bounds("clicks", value.clicks)
        yield from out_of_bounds("clicks_by_doc", value.clicks_by_doc)
        yield from out_of_bounds("queries", value.queries)
        yield from out_of_bounds("docs", value.docs)
        for field, texts in value.texts.items():
            yield from out_of_bounds(f"text.{field}", texts)
        for view, features in value.views.items():
            yield from out_of_bounds(f"view.{view}", features)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from out_of_bounds(f"{name}.{i}", item)
    elif hasattr(value, "parts_"):  # a combination: what its parts have learned
        for part in value.parts_:
            yield from out_of_bounds(name, list(vars(part).values()))
    elif hasattr(value, "problem"):
        if problem := value.problem():
            yield name, problem
    elif hasattr(value, "__dataclass_fields__"):
        for part in value.__dataclass_fields__:
            yield from out_of_bounds(f"{name}.{part}", getattr(value, part))


def check_bounds(values: Mapping[str, Any], source: Artefact) -> None:
    """Raise if what was opened from a file would lead outside an array; for work that reads all of it."""
    for name, value in values.items():
        for part, problem in out_of_bounds(name, value):
            raise ArtefactError(
                f"the {source.kind} is damaged: {part}: {problem}",
                where=str(source.path),
                hint="`coclick verify` names the file",
            )
