"""What likelihood models have learned of language: topics, and translations of words."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from coclick.cli.arguments import Json, ModelPath


def topics(
    model: ModelPath,
    words: Annotated[int, typer.Option("--words", "-k", min=1, help="How many words of each.")] = 8,
    json_: Json = False,
) -> None:
    """Show the topics of a model in two languages: the words of queries beside those of titles."""
    from coclick import open_model
    from coclick.cli import render as show
    from coclick.cli.terminal import print_json

    found = [
        topic | {side: _named(topic[side]) for side in ("query_words", "title_words")}
        for topic in open_model(model).describe_topics(words)
    ]
    if json_:
        print_json({"topics": found})
    else:
        show.topics(found)


def translate(
    model: ModelPath,
    word: Annotated[str, typer.Argument(metavar="WORD", help="A word of titles.")],
    k: Annotated[int, typer.Option("-k", min=1, help="How many words.")] = 10,
    json_: Json = False,
) -> None:
    """List the words of queries that a word of titles translates to, with their probabilities."""
    from coclick import open_model
    from coclick.cli import render as show
    from coclick.cli.terminal import print_json

    found = _named(open_model(model).translate(word, k))
    if json_:
        print_json({"word": word, "translations": found})
    else:
        show.translations(word, found)


def _named(words: list[tuple[str, float]]) -> list[dict[str, Any]]:
    return [{"word": word, "probability": likely} for word, likely in words]
