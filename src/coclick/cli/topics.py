"""Commands for likelihood models: topics, translate."""

from __future__ import annotations

from typing import Annotated

import typer

from coclick.cli.arguments import MAX_COUNT, Json, ModelPath
from coclick.cli.terminal import output


def topics(
    model: ModelPath,
    words: Annotated[
        int, typer.Option("--words", "-k", min=1, max=MAX_COUNT, help="Number of words for each topic.")
    ] = 8,
    json_: Json = False,
) -> None:
    """Show the topics of a model: their words in queries and their words in titles."""
    from coclick import answers, open_model
    from coclick.cli import render

    found = answers.topics(open_model(model), words)
    output({"topics": found}, json_, render.topics, found)


def translate(
    model: ModelPath,
    word: Annotated[str, typer.Argument(metavar="WORD", help="Word that occurs in titles.")],
    k: Annotated[int, typer.Option("-k", min=1, max=MAX_COUNT, help="Number of words.")] = 10,
    json_: Json = False,
) -> None:
    """Translate a title word into query words, with their probabilities."""
    from coclick import answers, open_model
    from coclick.cli import render

    found = answers.translate(open_model(model), word, k)
    output({"word": word, "translations": found}, json_, render.translations, word, found)
