"""Judge queries and documents of a simulated log, with the coverage and the click bins of a profile."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.simulate.engine import Results
from coclick.simulate.profiles import CLICK_BINS, Judging
from coclick.simulate.world import World

N_RANDOM = 10  # random documents per query that may be judged
N_SAME_SUBJECT = 20  # documents of the same subject that may be judged, relevant or not
SPARE = 1.5  # queries chosen for each that is needed, as some have no relevant document among the judged
OTHERS_LATER = 0.7  # how much later, between 0 and 1, random documents and documents of the subject are taken


def judge(
    world: World, results: Results, clicks: NDArray[np.int64], clicked: NDArray[np.bool_],
    judging: Judging, seed: int,
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], NDArray[np.int8]]:  # fmt: skip
    """Return the judged queries, and the judged pairs: indices into these queries, documents and grades.

    `clicks` is the number of clicks of every query in the graph, and `clicked` says which documents the graph
    has clicks on. Every judged query has a judged document with a grade above 0.
    """
    rng = np.random.default_rng([seed, 3])
    queries, stratum, wanted = _candidate_queries(clicks, judging, rng)
    place, document, key = _candidate_documents(world, results, queries, rng)
    chosen = _choose_documents(place, key, clicked[document], len(queries), judging, rng)
    place, document = place[chosen], document[chosen]
    grade = world.grade(queries[place], document)

    useful = np.zeros(len(queries), np.bool_)
    useful[place[grade > 0]] = True
    kept = np.concatenate(
        [np.flatnonzero(useful & (stratum == number))[:count] for number, count in enumerate(wanted)]
    )
    new_place = np.full(len(queries), -1)
    new_place[kept] = np.arange(len(kept))
    judged = new_place[place] >= 0
    order = np.lexsort((document[judged], new_place[place[judged]]))
    return (
        queries[kept],
        new_place[place[judged]][order],
        document[judged][order],
        grade[judged][order],
    )


def _candidate_queries(
    clicks: NDArray[np.int64], judging: Judging, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp], list[int]]:
    """Random queries with some to spare, the stratum of each, and the number wanted of every stratum."""
    seen_count = round(judging.query_coverage * judging.queries)
    bin_of = np.where(clicks > 0, np.searchsorted(CLICK_BINS, clicks), -1)
    if judging.bin_shares is None:
        strata, wanted = [np.flatnonzero(bin_of >= 0)], [seen_count]
    else:
        strata = [np.flatnonzero(bin_of == number) for number in range(len(judging.bin_shares))]
        wanted = [round(share * seen_count) for share in judging.bin_shares]
    strata.append(np.flatnonzero(bin_of < 0))
    wanted.append(judging.queries - seen_count)
    chosen = [
        rng.permutation(stratum)[: round(SPARE * count)]
        for stratum, count in zip(strata, wanted, strict=True)
    ]
    return np.concatenate(chosen), np.repeat(np.arange(len(chosen)), list(map(len, chosen))), wanted


def _candidate_documents(
    world: World, results: Results, queries: NDArray[np.intp], rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Pairs that may be judged, and their random keys: those with smaller keys are judged first."""
    found = results.documents[queries]
    found_place, column = np.nonzero(found >= 0)
    relevant_place, relevant, _ = world.relevant(queries)
    random = rng.integers(len(world.documents), size=(len(queries), N_RANDOM))
    by_subject = np.argsort(world.documents.facets.subject, kind="stable")
    subjects = world.documents.facets.subject[by_subject]
    asked = world.intents.subject[world.queries.intent[queries]]
    first, last = np.searchsorted(subjects, asked), np.searchsorted(subjects, asked, "right")
    same = by_subject[rng.integers(first[:, None], last[:, None], size=(len(queries), N_SAME_SUBJECT))]
    everyone = np.arange(len(queries))
    places: list[NDArray[np.integer]] = [
        found_place,
        relevant_place,
        np.repeat(everyone, N_RANDOM),
        np.repeat(everyone, N_SAME_SUBJECT),
    ]
    documents: list[NDArray[np.integer]] = [
        found[found_place, column],
        relevant,
        random.ravel(),
        same.ravel(),
    ]
    keys = [
        rng.random(len(place)) + later for place, later in zip(places, (0, 0, 1, OTHERS_LATER), strict=True)
    ]
    pair = np.concatenate(places) * np.int64(len(world.documents)) + np.concatenate(documents)
    key = np.concatenate(keys)
    order = np.lexsort((key, pair))
    first_of_pair = order[np.flatnonzero(np.diff(pair[order], prepend=-1))]
    place, document = np.divmod(pair[first_of_pair], len(world.documents))
    return place, document, key[first_of_pair]


def _choose_documents(
    place: NDArray[np.intp],
    key: NDArray[np.float64],
    clicked: NDArray[np.bool_],
    queries: int,
    judging: Judging,
    rng: np.random.Generator,
) -> NDArray[np.intp]:
    """The pairs to judge: those with the smallest keys, with the wanted share of clicked documents."""
    mean = judging.documents_per_query
    size = np.rint(mean * rng.uniform(0.5, 1.5, queries)).astype(np.int64)
    if judging.document_coverage is None:
        return _first_of_each(place, key, np.arange(len(place)), size)
    inside = rng.binomial(size, judging.document_coverage)
    return np.concatenate(
        [
            _first_of_each(place, key, np.flatnonzero(clicked), inside),
            _first_of_each(place, key, np.flatnonzero(~clicked), size - inside),
        ]
    )


def _first_of_each(
    place: NDArray[np.intp], key: NDArray[np.float64], among: NDArray[np.intp], size: NDArray[np.int64]
) -> NDArray[np.intp]:
    """The `size[p]` pairs with the smallest keys of each place p, of those in `among`."""
    order = among[np.lexsort((key[among], place[among]))]
    rank = np.arange(len(order)) - np.searchsorted(place[order], place[order])
    return order[rank < size[place[order]]]
