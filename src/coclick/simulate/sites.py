"""Sites of the simulated web: named sites whose names end titles, and the official pages of subjects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from coclick.simulate.documents import Documents
from coclick.simulate.intents import Catalogue, slug, zipf
from coclick.simulate.profiles import WorldShape
from coclick.simulate.words.names import SITES

SITE_ZIPF = 0.8  # the r-th largest site has a share ∝ 1 / r^0.8 of the pages
OFFICIAL_AUTHORITY = 15.0  # other pages have a mean of 1
_SUFFIXES = (" - {site}", " | {site}", " – {site}", " :: {site}")


def place_on_sites(
    documents: Documents, catalogue: Catalogue, shape: WorldShape, rng: np.random.Generator
) -> Documents:
    """Move pages to named sites and make one page of each subject its official one, as `shape` asks."""
    if shape.sites_per_document > 0:
        documents = _on_named_sites(documents, catalogue, shape, rng)
    if not shape.numbered_urls:
        documents = replace(documents, urls=_short_urls(documents.urls))
    if shape.official_pages:
        documents = _with_official_pages(documents, catalogue)
    return documents


def _on_named_sites(
    documents: Documents, catalogue: Catalogue, shape: WorldShape, rng: np.random.Generator
) -> Documents:
    """A site has one domain. Its name is the host of its pages and ends some of their titles."""
    count = len(documents)
    n_sites = max(1, round(shape.sites_per_document * count))
    facets = documents.facets
    domain = np.where(
        facets.subject >= 0, catalogue.subject_domain[facets.subject], catalogue.aspect_domain[facets.aspect]
    )
    n_domains = int(domain.max()) + 1
    site = rng.choice(n_sites, count, p=zipf(n_sites, SITE_ZIPF)) // n_domains * n_domains + domain
    suffix = np.where(
        rng.random(count) < shape.site_suffix_share, rng.integers(len(_SUFFIXES), size=count), -1
    )
    titles, urls = [], []
    rows = zip(documents.titles, documents.urls, site.tolist(), suffix.tolist(), strict=True)
    for title, url, number, kind in rows:
        name = SITES.make(number).document[0]
        path = url.split("/", 3)[3]
        titles.append(title + _SUFFIXES[kind].format(site=name) if kind >= 0 else title)
        urls.append(f"https://www.{name.lower()}.example/{path}")
    return replace(documents, titles=titles, urls=urls)


def _short_urls(urls: list[str]) -> list[str]:
    """URLs without the page number at their end, except where two would be equal."""
    known: set[str] = set()
    short = []
    for url in urls:
        stem = url.rpartition("/")[0]
        short.append(url if stem in known else stem)
        known.add(stem)
    return short


def _with_official_pages(documents: Documents, catalogue: Catalogue) -> Documents:
    """The first published overview page of each subject becomes its home page, known to everybody."""
    facets = documents.facets
    overview = np.flatnonzero((facets.subject >= 0) & (facets.aspect < 0) & ~documents.is_new)
    _, first = np.unique(facets.subject[overview], return_index=True)
    official = overview[first]
    urls, authority = list(documents.urls), documents.authority.copy()
    for page, subject in zip(official.tolist(), facets.subject[official].tolist(), strict=True):
        host = slug(catalogue.subjects[subject].query[0]).replace("-", "")
        urls[page] = f"https://www.{host}.example/"
    authority[official] = OFFICIAL_AUTHORITY
    is_official = np.zeros(len(documents), np.bool_)
    is_official[official] = True
    return replace(documents, urls=urls, authority=authority, is_official=is_official)
