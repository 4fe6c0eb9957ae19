"""Profiles of simulated logs: the knobs of world, traffic and judgments, and presets of published logs.

A preset is set from the statistics that a paper publishes about its log (`published`), and from studies of
search logs where the paper says nothing. `python -m reproduce.statistics` compares both with what is reached.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from coclick.errors import UserError

CLICK_BINS = (10, 100, 1000)  # upper bounds of a query's clicks: Wu, Lu & Li 2013 §6.5.2

# Probability to click an examined result, and to stop after a click, by grade 0 … 4: the "navigational" and
# "informational" users of Schuth et al. 2016, which extend Hofmann et al. 2011 to five grades.
NAVIGATIONAL_CLICK, NAVIGATIONAL_STOP = (0.05, 0.3, 0.5, 0.7, 0.95), (0.2, 0.3, 0.5, 0.7, 0.9)
INFORMATIONAL_CLICK, INFORMATIONAL_STOP = (0.4, 0.6, 0.7, 0.8, 0.9), (0.1, 0.2, 0.3, 0.4, 0.5)


@dataclass(frozen=True)
class WorldShape:
    """The knobs of the world. The defaults are those of `sample`."""

    documents_per_intent: float = 4
    intents_per_subject: float = 10
    formulation_skew: float = 0.6  # the number of formulations of an intent is ∝ popularity^skew
    formulation_zipf: float = 1.0  # popularity of an intent's r-th formulation ∝ 1 / r^exponent
    subject_only_share: float = 0.12  # intents without an aspect: "new york"
    qualified_share: float = 0.4  # of the others, those with a qualifier: "cheap hotels new york"
    new_share: float = 0.08  # documents published after the log ends
    later_query_share: float = 0.1  # formulations that occur only after the log
    later_intent_share: float = 0.04  # intents that occur only after the log
    misspelt_share: float = 0.1  # of formulations: 10–15 % of web queries (Cucerzan & Brill 2004)
    run_together_share: float = 0.04  # "walmartmoneycard"
    official_pages: bool = False  # a query that names only a subject wants its one official page
    sites_per_document: float = 0  # named sites; 0: a few sites for each domain, and no site in titles
    site_suffix_share: float = 0.5  # titles that end with the name of their site, if sites have names
    numbered_urls: bool = True  # every URL ends with a number; otherwise only those that would be equal


@dataclass(frozen=True)
class Traffic:
    """The knobs of searches, result pages and clicks."""

    tail_exponent: float = 0.6  # a share ∝ n^−exponent of the queries is searched more than n times
    min_searches: float = 1.0  # expected searches of the rarest query
    max_searches: float = 50_000  # of the most frequent query: "tens of thousands" (Wu, Lu & Li 2013 §6.5.2)
    page_versions: int = 2  # result pages of a query that differ by noise
    page_noise: float = 0.06  # scores vary by this factor between page versions
    recall: float = 0.3  # relevant documents that the engine finds although no word of the query matches
    ranking_quality: float = 0.5  # a result's score grows by this factor for each grade
    examination_exponent: float = 1.0  # a result at position p is examined with probability p^−exponent
    informational_share: float = 0.02  # page versions read by informational users; none if navigational
    min_clicks: int = 4  # pairs with fewer clicks are not in the graph


@dataclass(frozen=True)
class Judging:
    """The knobs of the judgments."""

    queries: int = 2000
    documents_per_query: float = 11.34
    bin_shares: tuple[float, ...] | None = None  # of judged queries, by CLICK_BINS; None: any seen query
    query_coverage: float = 1.0  # judged queries that are in the graph
    document_coverage: float | None = None  # judged documents with clicks in the graph; None: as it comes


@dataclass(frozen=True)
class Profile:
    """A simulated log: sizes before rare pairs are dropped, and the knobs of all parts."""

    about: str
    queries: int  # distinct queries, including those whose pairs are all dropped
    docs: int
    world: WorldShape = WorldShape()
    traffic: Traffic = Traffic()
    judging: Judging = Judging()
    published: dict[str, float] = field(default_factory=dict)  # statistics of the graph, by name

    def scaled(self, scale: float) -> Profile:
        """Return the profile with the same shape and fewer queries, documents and judged queries."""
        if not 0 < scale <= 1:
            raise UserError(f"the scale {scale} is not between 0 and 1", hint="use 1 for the full size")
        judging = replace(self.judging, queries=max(20, round(scale * self.judging.queries)))
        return replace(
            self,
            queries=max(100, round(scale * self.queries)),
            docs=max(100, round(scale * self.docs)),
            judging=judging,
        )


_WEB = WorldShape(
    documents_per_intent=1.7,
    intents_per_subject=2,
    formulation_skew=0,
    formulation_zipf=2,
    subject_only_share=0.2,  # 20–24.5 % of web queries are navigational (Broder 2002)
    qualified_share=0.15,
    numbered_urls=False,
    new_share=0.05,
    later_query_share=0.05,
    later_intent_share=0.02,
    official_pages=True,
    sites_per_document=2.5,
)
_WEEK_BINS = (230 / 2223, 772 / 2223, 757 / 2223, 464 / 2223)  # Wu, Lu & Li 2013 Table 6
_HALF_YEAR_BINS = (704 / 28757, 5260 / 28757, 8980 / 28757, 13813 / 28757)  # Table 7
_WEEK = Profile(
    about="one week of a web search engine",
    queries=250_000,
    docs=246_000,
    world=_WEB,
    judging=Judging(bin_shares=_WEEK_BINS),
    published={
        "queries": 94_022,
        "documents": 111_631,
        "documents_per_query": 1.74,
        "queries_per_document": 1.46,
        "words": 101_904,
        "words_per_query": 4.0 - 1.74,  # non-zero features, without those of clicks
        "words_per_document": 5.9 - 1.46,
        "queries_below_10_clicks": 212 / 500,
        "judged_documents_per_query": 11.34,
    },
)

PROFILES = {
    "web-week": _WEEK,
    "web-halfyear": replace(
        _WEEK,
        about="half a year of a web search engine, at five times the queries of the week",
        queries=870_000,
        docs=460_000,
        world=replace(_WEB, formulation_skew=0.3, formulation_zipf=1),
        traffic=Traffic(tail_exponent=0.36, max_searches=100_000, page_versions=4, informational_share=0.15),
        judging=Judging(documents_per_query=13.84, bin_shares=_HALF_YEAR_BINS),
        published={
            "queries": 5 * 94_022,  # the paper has 6,372,254 queries and 4,599,849 documents
            "documents": round(5 * 94_022 * 4_599_849 / 6_372_254),
            "documents_per_query": 2.92,
            "queries_per_document": 4.04,
            "words_per_query": 5.5 - 2.92,
            "words_per_document": 8.6 - 4.04,
            "judged_documents_per_query": 13.84,
        },
    ),
    "enterprise": replace(
        _WEEK,
        about="one year of the search engine of a company",
        queries=127_000,
        docs=180_000,
        world=replace(_WEB, sites_per_document=0, intents_per_subject=10, documents_per_intent=2.5),
        traffic=Traffic(tail_exponent=0.55, page_versions=3, informational_share=0.3, recall=0.5),
        judging=Judging(queries=1701, documents_per_query=16),
        published={
            "queries": 51_699,
            "documents": 81_186,
            "documents_per_query": 2.44,
            "words": 9_958,
            "judged_queries": 1_701,
            "judged_documents_per_query": 16,
        },
    ),
    "web-unseen": replace(
        _WEEK,
        about="a web log in which some of the judged queries and documents do not occur",
        judging=Judging(documents_per_query=15.2, query_coverage=0.925, document_coverage=0.789),
        published={"query_coverage": 0.925, "document_coverage": 0.789, "judged_documents_per_query": 15.2},
    ),
    "web-new": replace(
        _WEEK,
        about="a web log whose judged documents are all new",
        world=replace(_WEB, new_share=0.4),
        judging=Judging(documents_per_query=15, document_coverage=0.0),
        published={"document_coverage": 0.0, "judged_documents_per_query": 15},
    ),
}


def find_profile(name: str) -> Profile:
    """Return the preset of this name."""
    if name not in PROFILES:
        raise UserError(f"there is no profile {name!r}", hint=f"choose one of {', '.join(PROFILES)}")
    return PROFILES[name]
