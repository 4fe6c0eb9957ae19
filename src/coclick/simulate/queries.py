"""What people type: many formulations of one intent, in their own words, misspelt and run together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.simulate.intents import Catalogue, Facets, skewed, uniform_rows

MISSPELT = 0.1
RUN_TOGETHER = 0.04
PLURAL = 0.06
ANY_ORDER = 0.05
FORMULATION_ZIPF = 1.0  # popularity of an intent's r-th formulation ∝ 1 / (r + 1)
BLEMISHED = 0.35  # a misspelt or run-together formulation is this much as frequent as a clean one
LATER_QUERIES = 0.1  # share of formulations nobody used before the log ended
LATER_INTENTS = 0.04  # share of intents nobody had before the log ended

_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOURS = {
    key: row[max(at - 1, 0) : at] + row[at + 1 : at + 2] for row in _KEYBOARD for at, key in enumerate(row)
}


@dataclass(frozen=True)
class Queries:
    """One row a distinct query text."""

    texts: list[str]
    meant: list[str]  # the text without its slips: what a perfect speller would make of it
    intent: NDArray[np.int32]
    share: NDArray[np.float64]  # of searches that start from it in the log; 0: only asked later

    def __len__(self) -> int:
        return len(self.texts)


def make_queries(
    count: int,
    catalogue: Catalogue,
    intents: Facets,
    popularity: NDArray[np.float64],
    rng: np.random.Generator,
) -> Queries:
    """`count` distinct texts; popular intents have more formulations."""
    tempered = popularity**0.6
    tempered /= tempered.sum()
    found: dict[str, tuple[str, int, int]] = {}
    slips = 1  # grows while new texts are hard to come by, so that any number can be had
    while len(found) < count:
        before, wanted = len(found), count - len(found) + 16
        drawn = rng.choice(len(intents), wanted, p=tempered)
        rows = zip(
            drawn.tolist(),
            intents.subject[drawn].tolist(),
            intents.aspect[drawn].tolist(),
            intents.qualifier[drawn].tolist(),
            uniform_rows(wanted, 16, rng),
            strict=True,
        )
        for number, subject, aspect, qualifier, u in rows:
            text, meant, oddity = _formulate(catalogue, subject, aspect, qualifier, u, slips)
            if len(found) < count:
                found.setdefault(text, (meant, number, oddity))
        if len(found) - before < wanted // 4:
            slips = min(slips + 1, 3)
    texts = list(found)
    meanings = [found[text][0] for text in texts]
    intent = np.array([found[text][1] for text in texts], np.int32)
    odd = np.array([found[text][2] for text in texts], np.int32)
    clean = np.array([a == b for a, b in zip(texts, meanings, strict=True)])
    return Queries(texts, meanings, intent, _shares(intent, odd, clean, popularity, rng))


def _shares(
    intent: NDArray[np.int32],
    oddity: NDArray[np.int32],
    clean: NDArray[np.bool_],
    popularity: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Zipf over intents times Zipf over each intent's formulations, plain ones first; some are for later."""
    order = np.lexsort((oddity, intent))
    starts = np.searchsorted(intent[order], intent[order])  # where each one's intent begins
    rank = np.empty(len(intent))
    rank[order] = np.arange(len(intent)) - starts
    share = popularity[intent] * (rank + 1) ** -FORMULATION_ZIPF
    share[~clean] *= BLEMISHED
    later = rng.random(len(intent)) < LATER_QUERIES
    later |= (rng.random(len(popularity)) < LATER_INTENTS)[intent]
    if later.all():
        later[0] = False
    share[later] = 0
    return share / share.sum()


def _formulate(
    catalogue: Catalogue, subject: int, aspect: int, qualifier: int, u: list[float], slips: int
) -> tuple[str, str, int]:
    """One way to type an intent, the same without slips, and how odd a way it is.

    `u` are uniform numbers, one a choice.
    """
    domain = catalogue.domain(subject, aspect)
    terms = catalogue.terms(subject, aspect, qualifier)
    shape = "".join(facet for facet, term in zip("saq", terms, strict=True) if term)
    picks = [_pick(term.query if term else ("",), choice) for term, choice in zip(terms, u[1:4], strict=True)]
    phrases = [phrase for phrase, _ in picks]
    oddity = sum(rank for _, rank in picks)
    if u[4] < PLURAL:
        noun = 1 if phrases[1] and not domain.aspects_are_names else 0
        phrases[noun] = _other_number(phrases[noun])
        oddity += 1
    if u[5] < ANY_ORDER:
        turn = 1 + int(2 * u[0])
        meant = " ".join(filter(None, phrases[turn:] + phrases[:turn]))
        oddity += 2
    else:
        meant, rank = _pick(domain.queries[shape], u[0])
        for place, phrase in zip(("{s}", "{a}", "{q}"), phrases, strict=True):
            meant = meant.replace(place, phrase)
        oddity += rank
    words = meant.split()
    text = meant
    if u[6] < RUN_TOGETHER * slips and 1 < len(words) <= 4:
        text = "".join(words)
    elif u[6] > 1 - MISSPELT * slips:
        for slip in range(slips):
            text = _misspell(text, *u[7 + 3 * slip : 10 + 3 * slip])
    return text, meant, oddity


def _pick(options: tuple[str, ...], u: float) -> tuple[str, int]:
    """One of the options, and its rank."""
    rank = skewed(len(options), u)
    return options[rank], rank


def _other_number(phrase: str) -> str:
    """Singular for plural and the other way round, where the last word looks like a noun."""
    last = phrase.split()[-1]
    if len(last) < 4 or last[-1].isdigit() or last.endswith(("ing", "ed")):
        return phrase
    return phrase[:-1] if last.endswith("s") else phrase + "s"


def _misspell(text: str, where: float, how: float, which: float) -> str:
    """Swap, drop or double a letter, or hit the key beside it. Short texts are typed with care."""
    if len(text) < 5:
        return text
    at = 1 + int((len(text) - 2) * where)
    letter, following = text[at], text[at + 1]
    if not letter.isalpha() or not following.isalpha():
        return text
    before, after = text[:at], text[at + 1 :]
    if how < 0.3:
        return before + following + letter + after[1:]
    if how < 0.6:
        return before + after
    if how < 0.8:
        return before + letter + letter + after
    keys = _NEIGHBOURS.get(letter, letter)
    return before + keys[int(len(keys) * which)] + after
