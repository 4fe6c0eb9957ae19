"""A log with invalid rows, models, and a report for the studio."""

import pytest

import planted
from coclick import build, train
from coclick.evaluation.judgments import Judgments
from coclick.evaluation.leaderboard import leaderboard
from coclick.evaluation.report import write_report

EVIL = "<script>window.broken = true</script>"
EVIL_TITLE = '<img src=x onerror="window.broken = true"> & <i>title</i>'
MODELS = ("vpcg", "bm25", "bltm", "popularity")


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """The planted log as files, with three invalid rows and one that contains markup."""
    home = tmp_path_factory.mktemp("studio")
    rows = [*planted.clicks(), (EVIL, "evil", 4), ("hotel", "unknown", 2)]
    wrong = ["\thotel-0\t3", "hotel\t\t3", "hotel\thotel-0\tmany"]
    lines = ["query\tdoc\tclicks", *(f"{query}\t{doc}\t{count:g}" for query, doc, count in rows), *wrong]
    (home / "clicks.tsv").write_text("\n".join(lines) + "\n")
    titles = {**planted.docs(), "evil": EVIL_TITLE}
    docs = ["doc\ttitle", *(f"{doc}\t{title}" for doc, title in titles.items())]
    (home / "docs.tsv").write_text("\n".join(docs) + "\n")
    graph = build([str(home / "clicks.tsv")], home / "docs.tsv", home / "graph")
    for name, spec in zip(MODELS, ("vpcg", "bm25", "bltm(n_topics=5)", "popularity"), strict=True):
        train(spec, graph).save(home / name)
    judgments = Judgments({"1": "flu", "2": EVIL}, {"1": {"flu-1": 1}, "2": {"evil": 1}})
    write_report(leaderboard(graph, judgments, ["clicks", "popularity"]), home / "report.html")
    return home
