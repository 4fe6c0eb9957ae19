"""`coclick suggest`: build, complete, correct, and what is refused."""

import json
import subprocess
import sys

import planted
from coclick import Suggestions


def test_from_a_graph_to_suggestions(run, graph, tmp_path):
    out = tmp_path / "suggestions"
    done = run("suggest", "build", graph, "-o", out, "--json")
    assert done.code == 0, done.err
    stats = json.loads(done.out)
    assert stats["suggested"] == len(Suggestions.open(out).complete("", 100)) <= stats["queries"]
    query = next(iter(planted.TOPICS))
    found = json.loads(run("suggest", "complete", out, query[:3], "-k", 5, "--json").out)
    assert found["text"] == query[:3] and query in [one["query"] for one in found["completions"]]
    assert found["completions"] == [one._asdict() for one in Suggestions.open(out).complete(query[:3], 5)]
    assert query in run("suggest", "complete", out, query[:3]).out
    assert "no query of the log completes 'zzz'" in run("suggest", "complete", out, "zzz").out
    assert run("suggest", "correct", out, query).out == "no correction\n"
    answer = json.loads(run("suggest", "correct", out, query, "--json").out)
    assert answer == {"query": query, "correction": None, "confidence": None}
    assert "suggestion index" in run("info", out).out
    assert run("verify", out).out == "sound\n"


def test_many_texts_at_once(run, graph, tmp_path):
    out, texts = tmp_path / "suggestions", tmp_path / "texts.tsv"
    run("suggest", "build", graph, "-o", out)
    query = next(iter(planted.TOPICS))
    texts.write_text(f"1\t{query[:3]}\n2\t{query}\n")
    opened = Suggestions.open(out)
    found = json.loads(run("suggest", "complete", out, "--queries", texts, "--json").out)
    assert [one["text"] for one in found] == [query[:3], query]
    assert found[0]["completions"] == [one._asdict() for one in opened.complete(query[:3])]
    assert query in run("suggest", "complete", out, "--queries", texts).out
    found = json.loads(run("suggest", "correct", out, "--queries", texts, "--json").out)
    assert [one["query"] for one in found] == [query[:3], query]
    assert run("suggest", "correct", out, "--queries", texts).out.splitlines()[1] == f"{query}\t\t"
    command = [sys.executable, "-m", "coclick", "suggest", "correct", str(out), "--queries", "-"]
    done = subprocess.run(command, input=f"{query}\n", capture_output=True, text=True, check=True)
    assert done.stdout == f"{query}\t\t\n"
    assert "one text and many at once" in run("suggest", "correct", out, "a", "--queries", texts).err
    assert "give a query" in run("suggest", "correct", out).err


def test_what_exists_is_replaced_only_with_force(run, graph, tmp_path):
    out = tmp_path / "suggestions"
    assert run("suggest", "build", graph, "-o", out).code == 0
    again = run("suggest", "build", graph, "-o", out)
    assert again.code == 2 and "the output exists" in again.err
    assert run("suggest", "build", graph, "-o", out, "--force").code == 0
    other = run("suggest", "build", graph, "-o", graph, "--force")
    assert other.code == 2 and "a suggestion index does not replace it" in other.err


def test_wrong_directories_and_options(run, graph, model, tmp_path):
    for place in (graph, model):
        done = run("suggest", "complete", place, "a")
        assert done.code == 2 and "not a suggestion index" in done.err
    done = run("suggest", "build", graph, "-o", tmp_path / "out", "--min-users", 1_000_000)
    assert done.code == 2 and "no query that may be suggested" in done.err and not (tmp_path / "out").exists()
    assert run("suggest", "complete", tmp_path / "none", "a").code == 2
    assert run("suggest", "complete", tmp_path, "a", "-k", 101).code == 2
    assert run("suggest", "nothing").code == 2


def test_a_damaged_directory_exits_with_3(run, graph, tmp_path):
    out = tmp_path / "suggestions"
    run("suggest", "build", graph, "-o", out)
    [weights] = out.glob("weights-*.npy")
    weights.write_bytes(weights.read_bytes()[:-4])
    assert run("suggest", "complete", out, "a").code == 3
    assert run("verify", out).code == 3


def test_scores_of_completions_are_aligned(capsys):
    from coclick.cli.suggest import _print_completions

    found = [{"query": "meatloaf", "score": score, "typos": 0} for score in (1234.56, 82.4112, 6.96089)]
    _print_completions({"text": "m", "completions": found})
    lines = capsys.readouterr().out.splitlines()[-3:]
    assert [line.split()[1] for line in lines] == ["1,234.6", "82.4", "7.0"]
    assert len({line.index(".") for line in lines}) == 1
