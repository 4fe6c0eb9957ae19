"""Generate queries: many formulations of each intent, some misspelt or run together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.simulate.intents import Catalogue, Facets, skewed_index, uniform_rows
from coclick.simulate.profiles import WorldShape

OTHER_NUMBER_SHARE = 0.06
SHUFFLED_SHARE = 0.05
TYPO_POPULARITY = 0.35  # frequency of a formulation with typos, relative to one without

_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOURS = {
    key: row[max(at - 1, 0) : at] + row[at + 1 : at + 2] for row in _KEYBOARD for at, key in enumerate(row)
}


@dataclass(frozen=True)
class Queries:
    """The distinct query texts, column by column."""

    texts: list[str]
    clean_texts: list[str]  # the text without typos
    intent: NDArray[np.int32]
    share: NDArray[np.float64]  # of the log's sessions that start with it; 0: only after the log

    def __len__(self) -> int:
        return len(self.texts)


def make_queries(
    count: int,
    catalogue: Catalogue,
    intents: Facets,
    popularity: NDArray[np.float64],
    rng: np.random.Generator,
    shape: WorldShape,
) -> Queries:
    """Generate `count` distinct queries, more for popular intents."""
    tempered = popularity**shape.formulation_skew
    tempered /= tempered.sum()
    found: dict[str, tuple[str, int, int]] = {}
    run_together, misspelt = shape.run_together_share, shape.misspelt_share
    typos = 1  # per text; grows when new texts become rare, so that any number can be reached
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
            text, clean_text, rarity = _write_query(
                catalogue, subject, aspect, qualifier, u, typos * run_together, typos * misspelt, typos
            )
            if len(found) < count:
                found.setdefault(text, (clean_text, number, rarity))
        if len(found) - before < wanted // 4:
            typos = min(typos + 1, 3)
    texts = list(found)
    meanings = [found[text][0] for text in texts]
    intent = np.array([found[text][1] for text in texts], np.int32)
    rarities = np.array([found[text][2] for text in texts], np.int32)
    clean = np.array([a == b for a, b in zip(texts, meanings, strict=True)])
    return Queries(texts, meanings, intent, _shares(intent, rarities, clean, popularity, rng, shape))


def _shares(
    intent: NDArray[np.int32],
    rarity: NDArray[np.int32],
    clean: NDArray[np.bool_],
    popularity: NDArray[np.float64],
    rng: np.random.Generator,
    shape: WorldShape,
) -> NDArray[np.float64]:
    """Zipf over intents times Zipf over each intent's formulations by rarity; 0 for later queries."""
    order = np.lexsort((rarity, intent))
    starts = np.searchsorted(intent[order], intent[order])  # where the rows of each intent begin
    rank = np.empty(len(intent))
    rank[order] = np.arange(len(intent)) - starts
    share = popularity[intent] * (rank + 1) ** -shape.formulation_zipf
    share[~clean] *= TYPO_POPULARITY
    later = rng.random(len(intent)) < shape.later_query_share
    later |= (rng.random(len(popularity)) < shape.later_intent_share)[intent]
    if later.all():
        later[0] = False
    share[later] = 0
    return share / share.sum()


def _write_query(
    catalogue: Catalogue,
    subject: int,
    aspect: int,
    qualifier: int,
    u: list[float],
    run_together: float,
    misspelt: float,
    typos: int,
) -> tuple[str, str, int]:
    """A query for an intent, the same without typos, and the rarity of its wording.

    `u` has one uniform number for each choice.
    """
    domain = catalogue.domain(subject, aspect)
    terms = catalogue.terms(subject, aspect, qualifier)
    shape = "".join(facet for facet, term in zip("saq", terms, strict=True) if term)
    picks = [_pick(term.query if term else ("",), choice) for term, choice in zip(terms, u[1:4], strict=True)]
    phrases = [phrase for phrase, _ in picks]
    rarity = sum(rank for _, rank in picks)
    if u[4] < OTHER_NUMBER_SHARE:
        noun = 1 if phrases[1] and not domain.aspects_are_names else 0
        phrases[noun] = _other_number(phrases[noun])
        rarity += 1
    if u[5] < SHUFFLED_SHARE:
        turn = 1 + int(2 * u[0])
        clean_text = " ".join(filter(None, phrases[turn:] + phrases[:turn]))
        rarity += 2
    else:
        clean_text, rank = _pick(domain.queries[shape], u[0])
        for place, phrase in zip(("{s}", "{a}", "{q}"), phrases, strict=True):
            clean_text = clean_text.replace(place, phrase)
        rarity += rank
    words = clean_text.split()
    text = clean_text
    if u[6] < run_together and 1 < len(words) <= 4:
        text = "".join(words)
    elif u[6] > 1 - misspelt:
        for typo in range(typos):
            text = _misspell(text, *u[7 + 3 * typo : 10 + 3 * typo])
    return text, clean_text, rarity


def _pick(options: tuple[str, ...], u: float) -> tuple[str, int]:
    """One of the options, and its rank."""
    rank = skewed_index(len(options), u)
    return options[rank], rank


def _other_number(phrase: str) -> str:
    """The plural of a singular and vice versa, if the last word looks like a noun."""
    last = phrase.split()[-1]
    if len(last) < 4 or last[-1].isdigit() or last.endswith(("ing", "ed")):
        return phrase
    return phrase[:-1] if last.endswith("s") else phrase + "s"


def _misspell(text: str, where: float, how: float, which: float) -> str:
    """Swap, drop, double or mistype a letter. Texts of up to four letters stay unchanged."""
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
