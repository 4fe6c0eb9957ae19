"""Every number on the command line: odd values get a sentence or a finite result, never a traceback."""

import pytest
from typer.main import get_command

import planted
from coclick import Suggestions, cli, create

ODD = ["0", "-1", "1e308", "1e-300", "nan", "inf", str(2**63)]
LOG = "query\tdoc\tclicks\n" + "".join(f"red hat {i % 5}\tD{i % 7}\t{i}\n" for i in range(1, 40))
EVENTS = "query\tdoc\ttimestamp\taction\tdwell\n" + "".join(
    f"red hat {i % 5}\tD{i % 7}\t2024-01-{1 + i % 28:02} 10:00:00\tclick\t{i}\n" for i in range(40)
)
NUMBERS = ("int", "float", "int range", "float range", "integer", "integer range")
# A valid command line for every command that has a number; OUT is a new path.
COMMANDS = {
    "sample": "OUT --queries 10 --docs 10 --events 100",
    "check": "log.tsv",
    "build": "log.tsv -o OUT",
    "filter": "graph -o OUT",
    "view": "graph tags -o OUT --queries query-tags.tsv --docs doc-tags.tsv",
    "rejects": "graph",
    "train": "bm25 graph -o OUT",
    "search": "model hotel",
    "similar": "topics hotel",
    "expand": "model hotel",
    "explain": "model hotel hotel-0",
    "evaluate": "graph --models bm25 --holdout queries:0.3",
    "compare": "graph --only bm25 --budget 1s",
    "tune": "bm25 graph --trials 1 --holdout queries:0.3",
    "features": "graph -o OUT --models bm25 --queries queries.tsv --qrels qrels.tsv",
    "ltr": "graph -o OUT --models bm25 --n-trees 1",
    "run": "model --queries queries.tsv -o OUT",
    "evaluate-similar": "graph --models cos_clicks --holdout queries:0.3",
    "evaluate-units": "graph",
    "failing": "graph",
    "topics": "topics",
    "translate": "topics hotel",
    "suggest build": "graph -o OUT",
    "suggest complete": "suggestions ho",
    "suggest correct": "suggestions hotl",
    "serve": "no-such-model",
    "export": "model --to parquet -o OUT",
    "rules": "graph --to querqy -o OUT",
}


def numbers():
    """Every command and option that takes a number, from the parser itself."""

    def walk(command, path):
        if hasattr(command, "list_commands"):
            for name in command.list_commands(None):
                yield from walk(command.get_command(None, name), [*path, name])
        else:
            for option in command.params:
                if option.type.name in NUMBERS:
                    yield " ".join(path), max(option.opts, key=len)

    return list(walk(get_command(cli.app), []))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("numbers")
    graph = planted.graph()
    graph.save(place / "graph")
    create("bm25").fit(graph).save(place / "model")
    create("plsa(n_topics=4,iterations=2)").fit(graph).save(place / "topics")
    Suggestions.build(graph).save(place / "suggestions")
    (place / "log.tsv").write_text(LOG)
    (place / "events.tsv").write_text(EVENTS)
    (place / "queries.tsv").write_text("1\thotel\n")
    (place / "qrels.tsv").write_text("1\thotel-0\t1\n")
    for side, name in (("query", "hotel"), ("doc", "hotel-0")):
        (place / f"{side}-tags.tsv").write_text(f"{side}\tfeature\tvalue\n{name}\ttag\t1\n")
    return place


def test_every_command_with_a_number_is_tried():
    assert {command for command, _ in numbers()} == set(COMMANDS)
    assert len(numbers()) > 40


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "serve"])
def test_the_command_lines_are_valid(run, place, tmp_path, monkeypatch, command):
    """Otherwise every value would be refused, for another reason."""
    monkeypatch.chdir(place)
    words = COMMANDS[command].replace("OUT", str(tmp_path / "out")).split()
    answer = run(*command.split(), *words)
    assert answer.code == 0, answer.err


def check(answer, value):
    assert answer.code in (0, 2), (value, answer)
    assert answer.code == 0 or answer.err.strip() or "cannot be built: " in answer.out, value
    assert not {"nan", "inf", "-inf"} & set(answer.out.lower().split()), (value, answer.out)


@pytest.mark.parametrize(("command", "option"), numbers())
def test_odd_numbers(run, place, tmp_path, monkeypatch, command, option):
    monkeypatch.chdir(place)
    for i, value in enumerate(ODD):
        words = COMMANDS[command].replace("OUT", str(tmp_path / str(i))).split()
        if option in words:
            del words[words.index(option) : words.index(option) + 2]
        if option == "--scale":
            words += ["--like", "enterprise"]
        check(run(*command.split(), *words, option, value), value)


@pytest.mark.parametrize(
    ("command", "option", "form"),
    [
        ("build", "--actions", "click={}"),
        ("build", "--actions", "dwell>{}s=2"),
        ("build", "--half-life", "{}"),
        ("build", "--half-life", "{}d"),
        ("check", "--half-life", "{}d"),
        ("check", "--max-rejected", "{}%"),
        ("build", "--half-life", "{}w"),
        ("build", "--max-rejected", "{}"),
        ("build", "--max-rejected", "{}%"),
        ("build", "--memory", "{}"),
        ("build", "--memory", "{}GB"),
        ("build", "--since", "{}"),
        ("build", "--until", "{}"),
        ("evaluate", "--holdout", "queries:{}"),
        ("evaluate", "--holdout", "documents:{}"),
        ("evaluate", "--holdout", "time:{}"),
        ("compare", "--budget", "{}"),
        ("compare", "--budget", "{}s"),
        ("compare", "--budget", "{}h"),
    ],
)
def test_odd_numbers_in_texts(run, place, tmp_path, monkeypatch, command, option, form):
    monkeypatch.chdir(place)
    for i, value in enumerate(ODD):
        words = (
            COMMANDS[command].replace("OUT", str(tmp_path / str(i))).replace("log.tsv", "events.tsv").split()
        )
        if option in words:
            del words[words.index(option) : words.index(option) + 2]
        check(run(command, *words, option, form.format(value)), value)
