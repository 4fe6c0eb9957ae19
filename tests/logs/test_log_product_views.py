"""What a `view` is: decided by the shape of the log, said in the statistics, or given with --actions."""

import pytest

from coclick.errors import UserError
from coclick.logs import build
from coclick.logs.report import build_report

HEADER = "query,doc,action,user,timestamp,position"


def row(doc, action, user="u1", second=0, position=""):
    return f"hat,{doc},{action},{user},2024-01-01T10:00:{second:02},{position}"


SHOWN = [row(doc, "view", second=1) for doc in "ABCD"]  # one page of results
OPENED = [row(doc, "view_item", second=second) for second, doc in enumerate("ABCD")]
PLACED = [row(doc, "view", second=second, position=second + 1) for second, doc in enumerate("ABCD")]
CLICK = [row("A", "click", second=9)]
BOUGHT = [row("A", "addtocart", second=20), row("A", "transaction", second=30)]


def graph_of(tmp_path, rows, **options):
    log = tmp_path / "log.csv"
    log.write_text("\n".join([HEADER, *rows]) + "\n")
    return build([log], None, tmp_path / "graph", force=True, **options)


def counts(graph):
    clicks = {}
    matrix = graph.clicks.to_scipy().tocoo()
    for d, value in zip(matrix.col, matrix.data, strict=True):
        clicks[list(graph.docs)[d]] = value
    return clicks, graph.stats["has_impressions"], graph.stats["other_actions"]


@pytest.mark.parametrize(
    ("rows", "options", "expected", "assumed"),
    [
        ([*PLACED, *CLICK], {}, ({"A": 1}, True, {}), "'view' is an impression, because it has positions"),
        ([*OPENED, *BOUGHT], {}, (dict.fromkeys("ABCD", 1), False, {"addtocart": 1, "transaction": 1}),
         "'view_item' is a click, because the log has no clicks"),
        ([*OPENED, *BOUGHT], {"actions": {"click": 1, "cart": 3, "purchase": 10}},
         ({"A": 14, "B": 1, "C": 1, "D": 1}, False, {}), "'view_item' is a click"),
        ([*OPENED, *BOUGHT], {"actions": {"cart": 1}},
         ({"A": 1}, False, {"view_item": 4, "transaction": 1}), "'view_item' is a page that was opened"),
        ([*SHOWN, *CLICK], {}, ({"A": 1}, True, {}), "because many have the same query, user and time"),
        ([*SHOWN, *CLICK, *CLICK], {}, ({"A": 2}, False, {"view": 4}), "'view' is a page that was opened"),
        ([*OPENED, *CLICK], {}, ({"A": 1}, False, {"view_item": 4}), "(--actions view_item=impression or"),
        ([*OPENED, *CLICK], {"actions": {"view": 2}},
         (dict.fromkeys("ABCD", 2), False, {"click": 1}), None),
        ([*OPENED, *CLICK], {"actions": {"View Item": "impression"}}, ({"A": 1}, True, {}), None),
        ([*SHOWN, *CLICK], {"actions": {"view": "ignore"}}, ({"A": 1}, False, {"view": 4}), None),
        ([*CLICK, row("B", "Product Clicked")], {}, ({"A": 1, "B": 1}, False, {}), None),
    ],
)  # fmt: skip
def test_the_shape_of_the_log_decides(tmp_path, rows, options, expected, assumed):
    graph = graph_of(tmp_path, rows, **options)
    assert counts(graph) == expected
    said = graph.stats.get("assumed", [])
    assert len(said) == (assumed is not None) and all(assumed in sentence for sentence in said)
    assert build_report(graph.stats).assumed == said


def test_a_log_of_placed_views_alone_says_how_to_count_them(tmp_path):
    with pytest.raises(UserError, match=r"no valid click in 4 rows") as error:
        graph_of(tmp_path, PLACED)
    assert "view=1" in error.value.hint
    assert counts(graph_of(tmp_path, PLACED, actions={"view": 1}))[0] == dict.fromkeys("ABCD", 1)


def test_a_role_that_does_not_exist(tmp_path):
    with pytest.raises(UserError, match="must be a positive number, not 'impresion'") as error:
        graph_of(tmp_path, SHOWN, actions={"view": "impresion"})
    assert "view=impression or view=ignore" in error.value.hint
