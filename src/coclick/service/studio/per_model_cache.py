"""A cache for results that take a pass over a whole model."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from threading import Lock
from typing import Any

from coclick.models.base import Model
from coclick.service.loaded_models import LoadedModel


class PerModelCache:
    """A function of a model whose result is cached until the model is replaced."""

    def __init__(self, function: Callable[[Model], Any]) -> None:
        self._function = function
        self._cached: dict[str, tuple[weakref.ref[Model], Any]] = {}  # weak: must not keep old models alive
        self._lock = Lock()  # concurrent first requests compute the result once

    def __call__(self, loaded: LoadedModel) -> Any:
        """Return the result for a model."""
        with self._lock:
            cached = self._cached.get(loaded.name)
            if cached is None or cached[0]() is not loaded.model:
                cached = weakref.ref(loaded.model), self._function(loaded.model)
                self._cached[loaded.name] = cached
            return cached[1]
