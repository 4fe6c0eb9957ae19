"""Every number of a log: odd values are rejected or counted, and whatever is stored is finite."""

import duckdb
import numpy as np
import pytest

from coclick import ClickGraph, UserError, create
from coclick.logs import build

ODD = ["0", "-1", "1e308", "1e-300", "1e-30", "nan", "inf", "-inf", str(2**63), "1" * 400]
CLICKS = ("clicks", "impressions", "users")
EVENTS = ("position", "dwell", "results", "timestamp")


def rows_of(field, values):
    """A log in which every value stands once in the field, and a valid row for each."""
    fields = CLICKS if field in CLICKS else EVENTS
    right = {"clicks": "2", "impressions": "5", "users": "1", "position": "1", "dwell": "40", "results": "10"}
    right["timestamp"] = "2024-01-02 10:00:00"
    rows = [["query", "doc", *fields]]
    for i, value in enumerate(values):
        for text in (right[field], value):
            values_of = [text if one == field else right[one] for one in fields]
            rows.append([f"red hat {i}", f"D{i % 3}", *values_of])
    return rows


def stored_arrays(path):
    return {file.name: np.load(file) for file in path.glob("*.npy")}


@pytest.mark.parametrize("form", ["tsv", "parquet"])
@pytest.mark.parametrize("field", [*CLICKS, *EVENTS])
def test_what_is_stored_is_finite(tmp_path, field, form):
    rows, path = rows_of(field, ODD), tmp_path / "log.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    if form == "parquet":
        if field == "timestamp":
            return  # a time in Parquet is no text
        kind = f"{{'{field}': 'DOUBLE'}}"
        duckdb.execute(f"""COPY (FROM read_csv('{path}', delim='\\t', types={kind}, all_varchar=false))
            TO '{tmp_path / "log.parquet"}' (FORMAT parquet)""")
        path = tmp_path / "log.parquet"
    graph = build([path], None, tmp_path / "graph", max_rejected=1)
    assert graph.stats["rows"] == len(rows) - 1
    assert graph.stats["right"] + sum(graph.stats["rejected"].values()) == len(rows) - 1
    assert graph.stats["right"] >= len(ODD)  # the valid rows
    for name, values in stored_arrays(tmp_path / "graph").items():
        assert np.isfinite(values).all(), name
        if name.startswith("clicks.data"):
            assert (values > 0).all()
    model = create("cos_clicks").fit(graph)
    assert np.isfinite(model.search([row[0] for row in rows[1:]], k=5).scores).all()


@pytest.mark.parametrize("clicks", [*map(float, ODD), 1e-6, 1e12])
def test_clicks_in_memory(clicks):
    try:
        graph = ClickGraph.from_clicks([("hat", "d1", clicks), ("hat", "d2", 3.0), ("cap", "d1", 2.0)])
    except UserError:
        assert not 1e-6 <= clicks <= 1e12
        return
    assert np.isfinite(graph.clicks.data).all() and (graph.clicks.data > 0).all()
    for name in ("cos_clicks", "rw"):
        assert np.isfinite(create(name).fit(graph).search(["hat", "cap"], k=3).scores).all()


@pytest.mark.parametrize("value", ODD)
def test_repetitions_of_an_event(tmp_path, value):
    """A record stands for as many events as its column says: at most 10,000."""
    (tmp_path / "mine.toml").write_text('[fields]\nquery = "query"\ndoc = "doc"\ncount = "n"\n')
    path = tmp_path / "log.tsv"
    path.write_text(f"query\tdoc\tn\nred hat\tD1\t2\nred hat\tD2\t{value}\n")
    graph = build([path], None, tmp_path / "graph", like=tmp_path / "mine.toml", max_rejected=1)
    assert float(graph.clicks.data.sum()) in (2.0, 3.0)  # the row is rejected, or counts once
    too_many = float(value) > 10_000 or value == "nan"
    assert bool(sum(graph.stats["rejected"].values())) == too_many
