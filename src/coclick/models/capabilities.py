"""What models can do, and what they may require of a graph: names, with the words of error messages."""

from __future__ import annotations

# What a model may be able to do, and how an error says that it is not.
CAPABILITIES = {
    "unseen_queries": "rank documents for queries that are not in the log",
    "unseen_docs": "rank documents that have no clicks",
    "similar": "find similar queries or documents",
    "expand": "expand queries",
    "expand_docs": "expand documents",
    "explain": "explain its scores",
    "add": "score or add documents after training",
    "topics": "describe topics",
    "translate": "translate words",
    "export": "export vectors whose dot products are its scores",
}
_EVENTS = "build it from events: timestamp, user, query, doc, action, position"
# What a graph may provide beyond clicks, and how to build one that does.
HOW_TO_PROVIDE = {
    "texts": "build it with --docs (in Python: docs=…)",
    "impressions": "log what was shown: events with the action `impression`, or a column `impressions`",
    "sessions": _EVENTS,
    "days": _EVENTS,
    "positions": _EVENTS,
    "skips": _EVENTS,
    "searches": _EVENTS,
    "followups": _EVENTS,
}
