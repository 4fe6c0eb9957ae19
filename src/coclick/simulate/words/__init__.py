"""The vocabulary of the simulated world: seven domains, with words for documents and words for queries.

A domain has facets: a subject ("New York City"), an aspect ("Accommodation") and a qualifier ("Affordable").
Every facet value has phrases used in documents and phrases used in queries, such as "Myocardial Infarction"
and "heart attack": the lexical gap that a click log bridges.
"""

from __future__ import annotations

from coclick.simulate.words.guides import HEALTH, RECIPES, SOFTWARE, TRAVEL
from coclick.simulate.words.notation import Domain, Term
from coclick.simulate.words.shopping import ELECTRONICS, FASHION, STORES

DOMAINS = (TRAVEL, STORES, HEALTH, FASHION, RECIPES, SOFTWARE, ELECTRONICS)

__all__ = ["DOMAINS", "ELECTRONICS", "Domain", "Term"]
