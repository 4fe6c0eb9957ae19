"""What takes a pass over a whole model is worked out once for each."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from threading import Lock
from typing import Any

from coclick.models.base import Model
from coclick.service.loaded_models import Served


class OncePerModel:
    """A function of a model whose answer is kept until another model has taken the name."""

    def __init__(self, function: Callable[[Model], Any]) -> None:
        self._function = function
        self._kept: dict[str, tuple[weakref.ref[Model], Any]] = {}  # an old model must not live on here
        self._lock = Lock()  # two readers who come first together wait for one piece of work

    def __call__(self, served: Served) -> Any:
        """The answer for the model that is served."""
        with self._lock:
            kept = self._kept.get(served.name)
            if kept is None or kept[0]() is not served.model:
                kept = self._kept[served.name] = weakref.ref(served.model), self._function(served.model)
            return kept[1]
