"""`TextModel`: a model that splits texts into terms."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model
from coclick.progress import Progress, quiet
from coclick.text.analyzer import Analyzer, Tokenizer
from coclick.text.languages import AUTO, resolve_language
from coclick.text.stopwords import STOP_WORDS

# For presets of several families.
GAO2011_TEXT: dict[str, tuple[Any, str]] = {
    "fields": ("title", "§5.1: only titles are used"),
    "language": ("english", "§5.1: English queries"),
    "tokenizer": ("whitespace", "§5.1: split at white space, in lower case, numbers retained"),
    "stem": (False, "§5.1: no stemming"),
    "remove_stop_words": (False, "§5.1: not among the steps"),
}


class TextModel(Model):
    """A model that splits texts into terms, as its parameters `language`, `stem`, `remove_stop_words` say.

    `language="auto"` is the language of the graph. The model stores which one that was.
    """

    language: str
    stem: bool
    remove_stop_words: bool
    tokenizer: Tokenizer = "words"  # a parameter only of models that declare it
    legacy_parameters = {"tokenizer": "words"}
    language_: str = ""  # the name of the language, once the model is trained

    def fit(self, graph: ClickGraph, progress: Progress = quiet) -> Self:
        """Learn from a click graph, in the graph's language unless `language` names another."""
        self.resolve_language(graph.stats if isinstance(graph, ClickGraph) else {})
        return super().fit(graph, progress)

    def resolve_language(self, stats: Mapping[str, Any]) -> None:
        """Set the language by the statistics of the graph to learn from."""
        self.language_ = resolve_language(self.language, stats)
        self.__dict__.pop("_analyzer", None)  # of the graph that this was trained on before

    @cached_property
    def _analyzer(self) -> Analyzer:
        language = self.language_ or resolve_language(self.language, {})
        # A language of the graph for which there are no stop words keeps them all; one that is named fails.
        can_remove = self.language != AUTO or language in STOP_WORDS
        return Analyzer(language, self.stem, self.remove_stop_words and can_remove, self.tokenizer)
