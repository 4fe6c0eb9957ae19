"""What papers say about the features and weights of all their projections, for presets."""

from __future__ import annotations

from typing import Any

from coclick.models.text_model import GAO2011_TEXT

Settled = dict[str, tuple[Any, str]]

WORDS: Settled = {
    "language": ("english", "an English search engine"),
    "stem": (True, "words are stemmed"),
    "remove_stop_words": (True, "stop words are removed"),
    "tokenizer": ("words", "words are not split into pieces"),
}
# Wu, Lu & Li 2013; the earlier version of 2012 says that words are stemmed, and stop words removed (§5.1).
WU2013_DATA: Settled = {
    **WORDS,
    "views": ("words+raw_clicks", "§6.1: tf-idf of words and numbers of clicks, concatenated"),
    "fields": ("title+url", "§6.1: words of titles and URLs"),
    "weight": ("mean", "Eq. 2: clicks, averaged over documents and queries"),
}
# Wu, Li & Xu 2013.
WU2013B_DATA: Settled = {
    **WORDS,
    "views": ("words+log_clicks", "§5.1: tf-idf of words, and log numbers of clicks"),
    "fields": ("url", "§5.1: words of URLs"),
    "weight": ("log", "Eq. 2: the log number of clicks; pairs with at most 3 clicks are dropped before"),
}
DIM_WU2013B = (1000, "§5.3: 1000 for the enterprise log, 3000 for the web log")
# Gao et al. 2011.
GAO2011_DATA: Settled = {
    **GAO2011_TEXT,
    "dim": (100, "§5.3: k = 100"),
    "max_vocabulary": (40_000, "§5.3: 40K words, which are those in most texts; here the most frequent"),
}
PCA = (True, "§4.1: PCA is used to derive the LSA matrix")
TEXTS_OF_PAIRS = ("pairs", "§5.3: queries and titles of the pairs, as separate documents")
EACH_PAIR_ONCE = ("one", "§5.1: the title is paired with each unique query")
