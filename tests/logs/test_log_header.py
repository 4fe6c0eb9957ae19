"""The first line of files whose fields are given by place: a header in any language is not a click."""

import pytest

from coclick.logs import build
from coclick.logs.header import is_header

GERMAN = ("Suchbegriff;Artikel;Klicks;Datum", ["rote schuhe;A12;3;01.05.2024", "hut;B7;1;02.05.2024"])
FRENCH = ("Requête;Réf. produit;Nombre de clics", ["chapeau;A12;3", "robe d'été;B7;1"])


@pytest.mark.parametrize(
    ("first", "rows", "expected"),
    [
        (*GERMAN, True),
        (*FRENCH, True),
        (GERMAN[1][0], GERMAN[1][1:], False),
        ("Wort;Sache", ["hut;filzhut", "schuh;stiefel"], None),
        ("hut;stiefel", ["hut;filzhut", "schuh;stiefel"], False),  # values that occur again
        ("hut;A1;viele", ["hut;A2;1", "hut;A3;2"], False),  # a row with a wrong number
        ("hut;A1;", ["schuh;A2;1"], False),
        ("Top 10;Artikel", ["1;A1", "2;A2"], True),
        ("Suche;Ort", [], None),
    ],
)
def test_the_content_of_a_first_line(first, rows, expected):
    assert is_header(first.split(";"), [row.split(";") for row in rows]) is expected


@pytest.mark.parametrize(
    ("first", "rows", "columns"),
    [(*GERMAN, ["query", "doc", "clicks"]), (*FRENCH, ["query", "doc", "clicks"])],
)
def test_a_header_in_another_language_is_not_a_row(tmp_path, first, rows, columns):
    path = tmp_path / "log.csv"
    path.write_text("\n".join([first, *rows]) + "\n", encoding="utf-8")
    stats = build([path], None, tmp_path / "graph", columns=columns).stats
    assert (stats["rows"], stats["right"], stats["rejected"]) == (2, 2, {})
    assert stats["assumed"][0].startswith(f"line 1 of {path} was read as a header")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    stats = build([path], None, tmp_path / "graph", columns=columns, force=True).stats
    assert stats["rows"] == stats["right"] == 2 and "assumed" not in stats


def test_nothing_settles_it(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("Wort;Sache\nhut;filzhut\nschuh;stiefel\n")
    graph = build([path], None, tmp_path / "graph", columns=["query", "doc"])
    assert graph.stats["rows"] == 3 and "--header yes if it is a header" in graph.stats["assumed"][0]
    graph = build([path], None, tmp_path / "graph", columns=["query", "doc"], header="yes", force=True)
    assert graph.stats["rows"] == 2 and "assumed" not in graph.stats
