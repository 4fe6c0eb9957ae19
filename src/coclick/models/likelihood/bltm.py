"""`bltm`: the bilingual topic model (Gao et al. 2011 §3.1), its regularised forms, and `plsa`.

A query and a title that was clicked for it share a mixture θ of topics, but use different languages: each
topic z has a distribution φ^q_z of words in queries and another, φ^d_z, of words in titles. They are learned
by expectation maximisation with Dirichlet priors α and β (Eq. 3–8, `coclick.solvers.em`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.models.likelihood._base import Counts, clicked_pairs
from coclick.models.likelihood._topics import ALL_ITERATIONS, GAO2011_TOPICS, TopicModel
from coclick.models.presets import Preset
from coclick.models.registry import register
from coclick.solvers.em import Corpus

_REGULARISED = Preset(
    "Gao et al. 2011",
    iterations=(16, "§5.2: the likelihood saturates after 16"),
    **GAO2011_TOPICS,
    **ALL_ITERATIONS,
)


@register
@dataclass
class BLTM(TopicModel):
    """Topics shared by queries and the titles clicked for them."""

    name = "bltm"
    summary = "query likelihood through topics that queries and titles share, each in its own words"
    relative_cost = 2.0
    presets = {
        "paper": Preset(
            "Gao et al. 2011",
            iterations=(20, "§5.2: after around 20 the likelihood barely increases"),
            **GAO2011_TOPICS,
            **ALL_ITERATIONS,
        ),
        "wu2013": Preset(
            "Wu, Lu & Li 2013",
            n_topics=(1000, "§6.2: performance improves with it, up to 1000"),
            fields=("title+url", "§6.1: words of titles and URLs"),
            language=("english", "an English search engine"),
            stem=(True, "words are stemmed (Wu, Lu & Li 2012 §5.1)"),
            remove_stop_words=(True, "stop words are removed (Wu, Lu & Li 2012 §5.1)"),
            tokenizer=("words", "words are not split into pieces"),
            weight=("one", "§6.1.1: the model of Gao et al. 2011, which counts each pair once"),
            topic_prior=(1.1, "§6.1.1: the model of Gao et al. 2011, §5.2"),
            word_prior=(1.01, "§6.1.1: the model of Gao et al. 2011, §5.2"),
            max_vocabulary=(500_000, "§6.1: all 271,561 words of the larger log"),
        ),
    }


@register
@dataclass
class PLSA(TopicModel):
    """Probabilistic latent semantic analysis of titles (Hofmann 1999; Gao et al. 2011 §2.2, §5.2).

    Topics are learned from titles and generate words of queries like those of titles (Eq. 2): it is the
    baseline for `bltm`. `corpus=distinct` takes the title of every document once and uses no clicks;
    `corpus=pairs` takes the title of every clicked pair, as in the paper.
    """

    name = "plsa"
    summary = "query likelihood through topics learned from titles alone"
    relative_cost = 2.0
    presets = {
        "paper": Preset(
            "Gao et al. 2011", corpus=("pairs", "§5.2: the title side of the pairs"), **GAO2011_TOPICS
        )
    }

    corpus: Literal["distinct", "pairs"] = "distinct"

    def _corpus(self, graph: ClickGraph, counts: Counts) -> Corpus:
        """Return every document with a title, once, or the titles of all clicked pairs."""
        no_queries = np.empty(0, np.int32)
        if self.corpus == "pairs":
            _, title_of, weights = clicked_pairs(graph, counts, self.weight, self.fields)
            return Corpus(None, counts.docs, no_queries, title_of, weights)
        held = np.flatnonzero(counts.docs.row_nnz()).astype(np.int32)
        if not len(held):
            raise UserError(f"no document has a text in {self.fields!r}", hint="name another field")
        return Corpus(None, counts.docs, no_queries, held, np.ones(len(held), np.float32))


@register
@dataclass
class BLTMPR(TopicModel):
    """The bilingual topic model with posterior regularisation (Gao et al. 2011 §3.2, App. A).

    Like `bltm`, but in every clicked pair the query and the title must have the same expected fraction of
    their words in each topic: after each E-step the posteriors are projected onto the nearest ones that do.
    Without it the longer text dominates the topics of the pair.
    """

    name = "bltm_pr"
    summary = "bltm with the same topic proportions in a query and its clicked title"
    relative_cost = 5.0
    max_docs = 500_000
    presets = {"paper": _REGULARISED}

    iterations: int = 16

    def _em_options(self) -> dict[str, Any]:
        """Return the option for posterior regularisation."""
        return {"regularise": True}


@register
@dataclass
class BLTMPR1V(TopicModel):
    """`bltm_pr` over one vocabulary (Gao et al. 2011 §5.2): one distribution per topic for both sides."""

    name = "bltm_pr_1v"
    summary = "bltm_pr with one vocabulary for queries and titles"
    relative_cost = 5.0
    max_docs = 500_000
    presets = {"paper": _REGULARISED}

    iterations: int = 16

    def _em_options(self) -> dict[str, Any]:
        """Return the options for regularisation and one distribution per topic."""
        return {"regularise": True, "shared": True}
