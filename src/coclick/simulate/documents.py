"""Generate the pages of the simulated world: their topics, titles, bodies, URLs and anchor texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.simulate.intents import Catalogue, Facets, skewed_index, slug, uniform_rows
from coclick.simulate.words import Domain, Term

LISTING_SHARE = 0.02  # pages that list one aspect of all subjects
SECOND_ASPECT_SHARE = 0.15  # pages that also treat a second aspect
QUERY_WORDED_SHARE = 0.15  # bodies with a sentence in the words of queries
QUERY_ANCHOR_SHARE, TITLE_ANCHOR_SHARE = 0.2, 0.4  # other anchors are generic, like "read more"

_GENERIC_ANCHORS = ("official site", "read more", "website", "click here", "more information", "this page")
_ALSO = ("See also our pages on {a} in {s}.", "With a chapter on {a}: {s}.", "Related: {a}, {s}.")


@dataclass(frozen=True)
class Documents:
    """The documents, column by column."""

    ids: list[str]
    titles: list[str]
    bodies: list[str]
    urls: list[str]
    anchors: list[str]
    facets: Facets
    second_aspect: NDArray[np.int32]  # −1: none
    is_new: NDArray[np.bool_]  # published after the log ends: never shown in it
    authority: NDArray[np.float32]  # query-independent score of the page
    appeal: NDArray[np.float32]  # factor on the click probability, around 1
    is_official: NDArray[np.bool_]  # the page that a query naming only its subject wants

    def __len__(self) -> int:
        return len(self.ids)


def make_documents(
    count: int,
    catalogue: Catalogue,
    intents: Facets,
    popularity: NDArray[np.float64],
    rng: np.random.Generator,
    new_share: float,
) -> Documents:
    """Generate pages for every intent, more for popular ones, and a few listings, in random order."""
    listings = min(int(LISTING_SHARE * count), len(catalogue.aspects))
    about = np.arange(count - listings) % len(intents)  # every intent gets a page first
    tempered = popularity**0.5
    further = len(about[len(intents) :])
    about[len(intents) :] = rng.choice(len(intents), further, p=tempered / tempered.sum())
    listed = rng.choice(len(catalogue.aspects), listings, replace=False).astype(np.int32)
    none = np.full(listings, -1, np.int32)
    facets = Facets(
        np.concatenate([intents.subject[about], none]),
        np.concatenate([intents.aspect[about], listed]),
        np.concatenate([intents.qualifier[about], none]),
    ).take(rng.permutation(count))
    second = _second_aspects(catalogue, facets, rng)
    columns = (facets.subject, facets.aspect, facets.qualifier, second)
    rows = zip(*(column.tolist() for column in columns), uniform_rows(count, 24, rng), strict=True)
    texts = [_page_texts(catalogue, number, *row) for number, row in enumerate(rows, start=1)]
    titles, bodies, urls, anchors = (list(column) for column in zip(*texts, strict=True))
    width = max(5, len(str(count)))
    return Documents(
        ids=[f"d{number:0{width}d}" for number in range(1, count + 1)],
        titles=titles,
        bodies=bodies,
        urls=urls,
        anchors=anchors,
        facets=facets,
        second_aspect=second,
        is_new=rng.random(count) < new_share,
        authority=rng.exponential(1.0, count).astype(np.float32),
        appeal=np.clip(rng.lognormal(0.0, 0.3, count), 0.4, 1.4).astype(np.float32),
        is_official=np.zeros(count, np.bool_),
    )


def _second_aspects(catalogue: Catalogue, facets: Facets, rng: np.random.Generator) -> NDArray[np.int32]:
    """A second aspect of the same domain, or −1, for each page with a subject and an aspect."""
    second = np.full(len(facets), -1, np.int32)
    chosen = rng.random(len(facets)) < SECOND_ASPECT_SHARE
    chosen &= (facets.subject >= 0) & (facets.aspect >= 0)
    for domain in range(int(catalogue.aspect_domain.max()) + 1):
        mine = np.flatnonzero(chosen & (catalogue.subject_domain[facets.subject] == domain))
        options = np.flatnonzero(catalogue.aspect_domain == domain)
        second[mine] = rng.choice(options, len(mine))
    second[second == facets.aspect] = -1
    return second


def _page_texts(
    catalogue: Catalogue,
    number: int,
    subject: int,
    aspect: int,
    qualifier: int,
    second: int,
    u: list[float],
) -> tuple[str, str, str, str]:
    """Title, body, URL and anchor of one page. `u` has one uniform number for each choice."""
    domain = catalogue.domain(subject, aspect)
    s, a, q = catalogue.terms(subject, aspect, qualifier)
    shape = ("s" if s else "") + ("a" if a else "") + ("q" if q else "")

    def in_document_words(template: str, u0: float, u1: float, u2: float) -> str:
        return _fill(template, _document_phrase(s, u0), _document_phrase(a, u1), _document_phrase(q, u2))

    def in_query_words(template: str, u0: float, u1: float, u2: float) -> str:
        return _fill(template, _query_phrase(s, u0), _query_phrase(a, u1), _query_phrase(q, u2))

    titles = domain.titles[shape]
    title = in_document_words(titles[int(len(titles) * u[0])], u[1], u[2], u[3])

    # A body is a run of consecutive sentences that starts at a random one.
    fitting = domain.sentences[shape]
    start, length = int(len(fitting) * u[4]), 3 + int(2.5 * u[5])
    body = [
        _sentence(domain, fitting[(start + i) % len(fitting)], s, a, q, u[6 + i])
        for i in range(min(length, len(fitting)))
    ]
    if second >= 0:
        also = _ALSO[int(len(_ALSO) * u[12])]
        body.append(_sentence(domain, also, s, catalogue.aspects[second], None, u[13]))
    if s and a and u[14] < QUERY_WORDED_SHARE:
        query_sentences = domain.query_sentences[int(len(domain.query_sentences) * u[15])]
        said = in_query_words(query_sentences, u[16], u[17], u[18])
        body.insert(0, said[0].upper() + said[1:])

    if u[19] < QUERY_ANCHOR_SHARE and s:
        template = domain.queries[shape][0]
        anchor = in_query_words(template, u[20], u[21], u[22])
    elif u[19] < QUERY_ANCHOR_SHARE + TITLE_ANCHOR_SHARE:
        anchor = title.lower()
    else:
        anchor = _GENERIC_ANCHORS[int(len(_GENERIC_ANCHORS) * u[20])]

    site = domain.sites[int(len(domain.sites) * u[23])]
    host = _fill(site, _host_part(s), _host_part(a), "")
    path = "/".join(slug(term.document[0]) for term in (s, a, q) if term)
    return title, " ".join(body), f"https://{host}/{path}/{number}", anchor


def _sentence(domain: Domain, template: str, s: Term | None, a: Term | None, q: Term | None, u: float) -> str:
    """A sentence in the words of documents. Other sentences of the page may use other synonyms."""
    aspect, qualifier = _document_phrase(a, u), _document_phrase(q, 1 - u).lower()
    if not domain.aspects_are_names:
        aspect = aspect.lower()
    filled = _fill(template, _document_phrase(s, u), aspect, qualifier)
    return filled[0].upper() + filled[1:]


def _fill(template: str, s: str, a: str, q: str) -> str:
    if not q:
        template = template.replace("{q} ", "").replace(" {q}", "")
    return template.replace("{s}", s).replace("{a}", a).replace("{q}", q)


def _document_phrase(term: Term | None, u: float) -> str:
    return term.document[skewed_index(len(term.document), u)] if term else ""


def _query_phrase(term: Term | None, u: float) -> str:
    return term.query[skewed_index(len(term.query), u)] if term else ""


def _host_part(term: Term | None) -> str:
    return slug(term.query[0]).replace("-", "") if term else "all"
