from __future__ import annotations

import pytest

from coclick.simulate.words import DOMAINS, ELECTRONICS
from coclick.simulate.words.notation import required_facets, terms


def test_terms_parses_document_and_query_phrases() -> None:
    first, second = terms("New York City / New York = nyc / ny ; Rome = rome italy\n")
    assert first.document == ("New York City", "New York")
    assert first.query == ("nyc", "ny")
    assert second == (("Rome",), ("rome italy",))


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)
def test_domains_are_complete(domain) -> None:
    invented = tuple(domain.generator.make(i) for i in range(200))
    for term in domain.subjects + domain.aspects + domain.qualifiers + invented:
        assert all(term.document) and all(term.query)
        assert all(phrase == phrase.lower() for phrase in term.query)
    for shape in ("s", "sa", "saq"):
        assert all(required_facets(template) <= set(shape) for template in domain.queries[shape])
        assert domain.titles[shape] and len(domain.sentences[shape]) >= 2
    assert all(required_facets(template) == {"a"} for template in domain.titles["a"])


def test_generated_names_do_not_repeat() -> None:
    for domain in DOMAINS:
        count = min(5000, domain.generator.total)
        written = {domain.generator.make(i).document[0] for i in range(count)}
        assert len(written) > 0.99 * count, domain.name


def test_model_numbers_never_run_out() -> None:
    far = ELECTRONICS.generator.make(10**9)
    assert far.document[0] != ELECTRONICS.generator.make(10**9 + 138_240).document[0]
    assert any("-" in phrase and phrase[-1].isdigit() for phrase in far.query)
