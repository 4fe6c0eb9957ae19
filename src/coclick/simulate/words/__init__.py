"""The words of the simulated world: seven domains, each with two vocabularies.

A domain is made of facets: a subject ("New York City"), an aspect of it ("Accommodation") and a qualifier
("Affordable"). Every facet value has the words of those who write pages and the words of those who search,
as in "Myocardial Infarction" and "heart attack": the lexical gap that a click log bridges.
"""

from __future__ import annotations

from coclick.simulate.words.guides import HEALTH, RECIPES, SOFTWARE, TRAVEL
from coclick.simulate.words.notation import Domain, Term
from coclick.simulate.words.shopping import ELECTRONICS, FASHION, STORES

DOMAINS = (TRAVEL, STORES, HEALTH, FASHION, RECIPES, SOFTWARE, ELECTRONICS)

__all__ = ["DOMAINS", "ELECTRONICS", "Domain", "Term"]
