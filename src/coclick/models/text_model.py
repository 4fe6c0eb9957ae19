"""`TextModel`: a model that splits texts into terms."""

from __future__ import annotations

from functools import cached_property

from coclick.models.base import Model
from coclick.text.analyzer import Analyzer, Tokenizer


class TextModel(Model):
    """A model that splits texts into terms, as its parameters `language`, `stem`, `remove_stop_words` say."""

    language: str
    stem: bool
    remove_stop_words: bool
    tokenizer: Tokenizer = "words"  # a parameter only of models that declare it

    @cached_property
    def _analyzer(self) -> Analyzer:
        return Analyzer(self.language, self.stem, self.remove_stop_words, self.tokenizer)
