"""Features of documents: counts of clicks, recent clicks, lengths of texts, and numeric fields.

    doc clicks, doc queries             of all days
    doc days                            days with clicks
    doc clicks of the last N days       N = 1, 3, 7, 14, 30 days up to the last day of the log
    doc trend                           clicks of the last 7 days / clicks of the last 30 days, 0 without any
    doc days since first, last click    before the last day of the log; all days of the log without any
    doc FIELD characters                length of a text
    doc FIELD                           a field of DOCS that is a number or a date (as days since 1970)

A field that a document lacks is missing (NaN).

Recent clicks predict the clicks that come next. They cannot be used for the examples of unseen queries, whose
labels are clicks of the same days (`coclick.ltr.folds`): they are missing there.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.strings import Strings
from coclick.graph.click_graph import ClickGraph

Floats = NDArray[np.float32]
OF_CLICKS = ("doc clicks", "doc queries")
WINDOWS = (1, 3, 7, 14, 30)  # days
OF_DAYS = (
    "doc days",
    *(
        f"doc clicks of the last {days} days" if days > 1 else "doc clicks of the last day"
        for days in WINDOWS
    ),
    "doc trend",
    "doc days since first click",
    "doc days since last click",
)
_MIN_SHARE = 0.95  # of the texts of a field that are numbers or dates
_EPOCH = datetime.date(1970, 1, 1).toordinal()


def doc_features(graph: ClickGraph) -> tuple[list[str], Floats]:
    """Return the names of the features of documents that a graph has, and a row of values for each."""
    lengths = {
        f"doc {name} characters": np.diff(texts.offsets) for name, texts in sorted(graph.texts.items())
    }
    fixed = lengths | _numeric_fields(graph)
    names = [*OF_CLICKS, *fixed, *(OF_DAYS if "days" in graph.provides else ())]
    values = np.empty((len(graph.docs), len(names)), np.float32)
    for column, of_field in enumerate(fixed.values(), len(OF_CLICKS)):
        values[:, column] = of_field
    return names, with_clicks(values, graph, recent=True)


def with_clicks(values: Floats, graph: ClickGraph, *, recent: bool) -> Floats:
    """Return the values with the clicks of a graph; values of days are missing unless `recent`."""
    values = values.copy()
    by_doc = graph.clicks_by_doc
    values[:, 0], values[:, 1] = by_doc.row_sums(), by_doc.row_nnz()
    if "days" in graph.provides:
        values[:, -len(OF_DAYS) :] = _values_of_days(graph) if recent else np.nan
    return values


def _values_of_days(graph: ClickGraph) -> Floats:
    """The columns of `OF_DAYS`."""
    pairs, daily = graph.pairs, graph.daily
    assert pairs is not None and daily is not None
    n_docs = len(graph.docs)
    clicked, last_day = daily.clicks > 0, int(daily.day.max(initial=0))
    doc = np.repeat(pairs.docs, np.diff(daily.indptr))[clicked].astype(np.int64)
    clicks = daily.clicks[clicked]
    age = (last_day - daily.day)[clicked].astype(np.int64)
    n_days = last_day - int(daily.day.min(initial=last_day)) + 1
    first, last = np.full(n_docs, -1), np.full(n_docs, n_days)
    np.maximum.at(first, doc, age)
    np.minimum.at(last, doc, age)
    first[first < 0] = n_days
    days = np.bincount(np.unique(doc * n_days + age) // n_days, minlength=n_docs)
    in_window = {days: np.bincount(doc[age < days], clicks[age < days], n_docs) for days in WINDOWS}
    trend = in_window[7] / np.maximum(in_window[30], 1e-9)
    return np.stack([days, *in_window.values(), trend, first, last], axis=1).astype(np.float32)


def _numeric_fields(graph: ClickGraph) -> dict[str, Floats]:
    """The fields whose texts are numbers or dates, with the values of all documents."""
    found = {f"doc {name}": _numbers(texts) for name, texts in sorted(graph.texts.items())}
    return {name: values for name, values in found.items() if values is not None}


def _numbers(texts: Strings) -> Floats | None:
    """The numbers of a field, NaN where it is empty; None unless nearly all texts are numbers or dates."""
    lengths = np.diff(texts.offsets)
    filled = np.flatnonzero(lengths)
    sample = texts.take(filled[:100]).to_list()
    if not sample or not _is_numeric([_number(text) for text in sample]):
        return None
    numbers = [_number(text) for text in texts.take(filled).to_list()]
    if not _is_numeric(numbers) or len({*numbers}) < 2:
        return None
    values = np.full(len(texts), np.nan, np.float32)
    values[filled] = numbers
    return values


def _is_numeric(numbers: Sequence[float]) -> bool:
    return float(np.isfinite(numbers).mean()) >= _MIN_SHARE


def _number(text: str) -> float:
    """A number, or the day of a date such as 2026-11-18 or 2026-11-18T09:30; NaN for other texts."""
    try:
        number = float(text)
        return number if np.isfinite(number) else np.nan
    except ValueError:
        pass
    try:
        return float(datetime.date.fromisoformat(text.strip()[:10]).toordinal() - _EPOCH)
    except ValueError:
        return np.nan
