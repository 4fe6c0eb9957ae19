"""How sure a correction is: a logistic function of the evidence for the typed and for the proposed text.

`python -m benchmarks._correction_study` fits the weights on simulated logs, where the truth is known, and
judges them on others. They are the same for all logs: features are differences and logarithms of counts.

No simulated user types a blank too many. Two words that are joined into one, and nothing else, are judged by
how often people write them so: uses of the word against uses of both words side by side.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from coclick.suggestions.channel import Path
from coclick.suggestions.word_statistics import WordStatistics

BIAS = 2.480
WEIGHTS = {
    "gain": 0.081,
    "edits": -4.630,
    "has_blanks": -11.002,
    "blanks": 1.641,
    "share": 0.579,
    "letters": 0.518,
    "typed_queries": -3.827,
    "typed_uses": -0.403,
    "typed_in_titles": -0.706,
    "typed_weight": 0.181,
    "new_queries": 0.762,
    "new_weight": 0.203,
    "similarity": 1.145,
}
_MAX_LETTERS = 12  # more make no difference
_JOIN_ODDS, _JOIN_PRIOR = 20.0, 20.0  # a joined word must be used thirty times as often as both apart


class QueryEvidence(NamedTuple):
    """What the log has of the typed and of the proposed text as whole queries."""

    typed_weight: float = 0.0  # how much the typed text is used, 0 if the log does not have it
    proposed_weight: float = 0.0
    similarity: float | None = None  # cosine of the clicks of both, None if one has none


def joined_share(words: WordStatistics, typed: Path, proposed: Path) -> float | None:
    """Return how often neighbouring words are written as one, if the proposal only joins words; else None."""
    shares, place = [], 0
    for arc in proposed.arcs:
        ids = [token.ids[0] for token in typed.arcs[place : place + arc.n_tokens]]
        place += arc.n_tokens
        if arc.n_tokens == 2:
            uses = float(words.uses[arc.ids[0]]) + float(words.titles[arc.ids[0]])
            apart = words.pair_uses_of(*np.array(ids, np.int64).reshape(2, 1))
            shares.append(uses / (uses + _JOIN_PRIOR + _JOIN_ODDS * float(apart[0])))
        elif arc.changes:
            return None
    return min(shares, default=None)


def features(words: WordStatistics, typed: Path, proposed: Path, queries: QueryEvidence) -> dict[str, float]:
    """Return the evidence for a proposal, by name."""
    if (share := joined_share(words, typed, proposed)) is not None:
        return {"joined": share}
    old: list[int] = []
    new: list[int] = []
    edits, blanks, share, letters, place = 0.0, 0, 1.0, _MAX_LETTERS, 0
    for arc in proposed.arcs:
        tokens = typed.arcs[place : place + arc.n_tokens]
        place += arc.n_tokens
        if arc.changes:
            old += [token.ids[0] for token in tokens]
            new += arc.ids
            edits, blanks, share = edits + arc.edits, blanks + arc.blanks, share * arc.share
            letters = min(letters, sum(len(token.words[0]) for token in tokens))
    known = [word for word in old if word >= 0]
    is_query = queries.typed_weight > 0
    gain = proposed.score + sum(arc.cost for arc in proposed.arcs) - typed.score
    return {
        "gain": gain,  # of log P(words)
        "edits": edits,
        "has_blanks": float(blanks > 0),
        "blanks": float(blanks),
        "share": math.log(share + 1e-6),  # of the alternatives for the changed words
        "letters": float(letters),  # of the shortest changed word
        # Other queries that have the typed words: a typo is rarely made twice.
        "typed_queries": math.log1p(max((int(words.queries[w]) for w in known), default=0) - is_query),
        "typed_uses": math.log1p(
            max(max((float(words.uses[w]) for w in known), default=0.0) - queries.typed_weight, 0)
        ),
        "typed_in_titles": float(len(known) == len(old) and all(words.titles[w] > 0 for w in known)),
        "typed_weight": math.log1p(queries.typed_weight),
        "new_queries": math.log1p(min(int(words.queries[w]) for w in new)),
        "new_weight": math.log1p(queries.proposed_weight),
        "similarity": queries.similarity or 0.0,
    }


def confidence(evidence: dict[str, float]) -> float:
    """Return the probability that a proposal is what was meant."""
    if "joined" in evidence:
        return evidence["joined"]
    score = BIAS + sum(WEIGHTS[name] * value for name, value in evidence.items())
    return 1 / (1 + math.exp(-max(min(score, 30.0), -30.0)))
