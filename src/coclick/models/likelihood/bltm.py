"""`bltm`: the bilingual topic model (paper 001 §3.1).

A query and the title of a document that was clicked for it share a mixture θ of topics, but say them in two
languages: each topic z has a distribution φ^q_z of words in queries and another, φ^d_z, of words in titles.
All are found by expectation maximisation with Dirichlet priors α and β (Eq. 3–8: `coclick.solvers.em`).
"""

from __future__ import annotations

from dataclasses import dataclass

from coclick.models.base import register
from coclick.models.likelihood._topics import TopicModel


@register
@dataclass
class BLTM(TopicModel):
    """Topics shared by queries and the titles clicked for them."""

    name = "bltm"
    summary = "queries from titles through topics that both share, each in its own words"
