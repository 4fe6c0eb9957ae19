"""`TextModel`: a model that splits texts into terms."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from coclick.models.base import Model
from coclick.text.analyzer import Analyzer, Tokenizer

# For presets of several families.
GAO2011_TEXT: dict[str, tuple[Any, str]] = {
    "fields": ("title", "§5.1: only titles are used"),
    "language": ("english", "§5.1: English queries"),
    "tokenizer": ("whitespace", "§5.1: split at white space, in lower case, numbers retained"),
    "stem": (False, "§5.1: no stemming"),
    "remove_stop_words": (False, "§5.1: not among the steps"),
}


class TextModel(Model):
    """A model that splits texts into terms, as its parameters `language`, `stem`, `remove_stop_words` say."""

    language: str
    stem: bool
    remove_stop_words: bool
    tokenizer: Tokenizer = "words"  # a parameter only of models that declare it

    @cached_property
    def _analyzer(self) -> Analyzer:
        return Analyzer(self.language, self.stem, self.remove_stop_words, self.tokenizer)
