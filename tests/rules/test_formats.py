"""Every format is read back by a small parser of its documented grammar, with hostile texts."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from coclick import UserError, write_rules
from coclick.rules import FORMATS
from coclick.rules.rule import Effect, Rule

TEXTS = [
    "call of duty",
    "a, b",
    "a => b",
    "# not a comment",
    "back\\slash",
    'quo"te "s"',
    "<b>&amp;</b>",
    "it's",
    "=cmd|' /c calc'!a0",
    "{facet:brand} *",
    "c# c++ at&t",
    "ünï🦊 東京",
    "id:1 or 1:1",
    "def x",
    "@_id",
    "%%param%%",
    "a\\",
    "\\",
    ",",
]


def rules_of(kind):
    return [
        Rule(kind, left, right, 20, 0.9, (0.8, 0.95))
        for left in TEXTS
        for right in TEXTS[::-1]
        if left != right
    ]


def write(tmp_path, to, rules, **options):
    stats = write_rules(rules, to, tmp_path / "out.txt", **options)
    return stats, (tmp_path / "out.txt").read_text(encoding="utf-8")


def pairs(rules):
    return {(rule.left, rule.right) for rule in rules}


def solr_sides(line):
    """Split a line by Lucene's description: separators unless a backslash is in front."""
    assert not line.startswith("#")
    sides, texts, text, i = [], [], "", 0
    while i < len(line):
        if line[i] == "\\":
            text, i = text + line[i + 1], i + 2
        elif line.startswith("=>", i):
            sides, texts, text, i = [*sides, [*texts, text.strip()]], [], "", i + 2
        elif line[i] == ",":
            texts, text, i = [*texts, text.strip()], "", i + 1
        else:
            text, i = text + line[i], i + 1
    left, right = [*sides, [*texts, text.strip()]]
    assert len(left) == 1
    return left[0], right


@pytest.mark.parametrize("to", ["es-synonyms", "opensearch-synonyms", "solr-synonyms"])
def test_synonyms(tmp_path, to):
    synonyms, corrections = rules_of("synonym"), [Rule("correction", "batmna", "bat, man", 9, 1, (0.7, 1))]
    stats, text = write(tmp_path, to, [*synonyms, *corrections, *rules_of("pin")])
    if to == "solr-synonyms":
        mapping = json.loads(text)
    elif to == "es-synonyms":
        body = json.loads(text)
        assert body.keys() == {"synonyms_set"}
        assert len({entry["id"] for entry in body["synonyms_set"]}) == len(body["synonyms_set"])
        mapping = dict(solr_sides(entry["synonyms"]) for entry in body["synonyms_set"])
    else:
        lines = [line for line in text.split("\n") if line and not line.startswith("#")]
        mapping = dict(map(solr_sides, lines))
    assert mapping.pop("batmna") == ["bat, man"]  # replaced
    assert all(left in rights for left, rights in mapping.items())  # expanded
    assert {(left, right) for left, rights in mapping.items() for right in rights if right != left} == pairs(
        synonyms
    )
    assert stats["written"] == len(synonyms) + 1
    assert stats["left_out"] == {"pin: this format has none": len(rules_of("pin"))}


def test_more_synonyms_than_a_set_takes_go_to_further_files(tmp_path, monkeypatch):
    from coclick.rules.formats import es_query_rules, es_synonyms

    assert (es_synonyms.MAX_RULES, es_query_rules.MAX_RULES) == (10_000, 100)  # as documented
    monkeypatch.setattr(es_synonyms, "MAX_RULES", 10)
    rules = [Rule("synonym", f"left{i}", "right", 20, 0.9, (0.8, 0.95)) for i in range(25)]
    stats = write_rules(rules, "es-synonyms", tmp_path / "set.json")
    assert [name.rpartition("/")[2] for name in stats["files"]] == ["set.json", "set-2.json", "set-3.json"]
    sets = [
        json.loads((tmp_path / name).read_text())["synonyms_set"]
        for name in ("set.json", "set-2.json", "set-3.json")
    ]
    assert [len(one) for one in sets] == [10, 10, 5]
    with pytest.raises(UserError, match="the output exists"):
        write_rules(rules, "es-synonyms", tmp_path / "set.json")
    write_rules(rules[:3], "es-synonyms", tmp_path / "set.json", force=True)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["set.json"]


def test_elevate(tmp_path):
    pins = [*rules_of("pin"), Rule("pin", "tab\there\nthere", "d\r1", 9, 1, (0.7, 1))]
    hostile = [Rule("pin", "bell\x07", "d", 9, 1, (0.7, 1)), Rule("pin", "q", "d\x00", 9, 1, (0.7, 1))]
    stats, text = write(tmp_path, "elevate", [*pins, *hostile, *rules_of("synonym")[:3]])
    root = ET.fromstring(text.encode())
    assert root.tag == "elevate"
    assert {(query.get("text"), doc.get("id")) for query in root for doc in query} == pairs(pins)
    assert stats["left_out"] == {
        "synonym: this format has none": 3,
        "pin: XML does not have its characters": 2,
    }


def test_query_rules(tmp_path):
    pins = rules_of("pin") + [Rule("pin", f"query {i}", "d", 9, 1, (0.7, 1)) for i in range(100)]
    too_long = Rule("pin", "q", "x" * 513, 9, 1, (0.7, 1))
    stats = write_rules([*pins, too_long], "es-query-rules", tmp_path / "rules.json")
    assert len(stats["files"]) == 2 and stats["left_out"] == {
        "pin: Elasticsearch has no ids of that length": 1
    }
    found = set()
    for name in ("rules.json", "rules-2.json"):
        body = json.loads((tmp_path / name).read_text())
        assert 0 < len(body["rules"]) <= 100
        for rule in body["rules"]:
            assert rule.keys() == {"rule_id", "type", "criteria", "actions"} and rule["type"] == "pinned"
            [criterion] = rule["criteria"]
            assert (criterion["type"], criterion["metadata"]) == ("exact", "query_string")
            found |= {(criterion["values"][0], doc) for doc in rule["actions"]["ids"]}
    assert found == pairs(pins)


def test_excludes(tmp_path):
    """A query with a pinned and two excluded documents, in every format that has them."""
    rules = [
        Rule(kind, "a <b>", doc, 200, 1, (0.98, 1))
        for kind, doc in (("pin", "p"), ("exclude", "x"), ("exclude", "y"))
    ]
    measured = [replace(rule, effect=Effect(0.5, 0.75, 9)) for rule in rules]
    [query] = ET.fromstring(write(tmp_path, "elevate", measured)[1].encode())
    assert [(doc.get("id"), doc.get("exclude")) for doc in query] == [
        ("p", None),
        ("x", "true"),
        ("y", "true"),
    ]
    found = json.loads(write(tmp_path, "es-query-rules", measured, force=True)[1])["rules"]
    assert [(rule["type"], rule["actions"]["ids"]) for rule in found] == [
        ("pinned", ["p"]),
        ("exclude", ["x", "y"]),
    ]
    assert len({rule["rule_id"] for rule in found}) == 2
    found = json.loads(write(tmp_path, "algolia", measured, force=True)[1])["rules"]
    assert [rule["consequence"] for rule in found[1:]] == [
        {"hide": [{"objectID": "x"}]},
        {"hide": [{"objectID": "y"}]},
    ]
    assert {rule["conditions"][0]["anchoring"] for rule in found} == {"is"}
    lines = [
        line.strip() for line in write(tmp_path, "querqy", measured, force=True)[1].split("\n")[2:] if line
    ]
    assert lines == ['"a <b>" =>', 'UP(1000): * id:"p"', 'DOWN(1000): * id:"x"', 'DOWN(1000): * id:"y"']
    stats, _ = write(tmp_path, "elevate", rules, force=True)
    assert stats["unhelpful"] == 2  # not replayed: a person must accept them


def test_deletes(tmp_path):
    """Querqy and Algolia can leave words out; synonyms cannot."""
    rule = Rule("delete", "cheap", "", 40, 0.9, (0.8, 0.95), evidence="follow-ups")
    measured = replace(rule, effect=Effect(0.5, 0.75, 9))
    text = write(tmp_path, "querqy", [measured])[1]
    assert [line.strip() for line in text.split("\n")[2:] if line] == ["cheap =>", "DELETE: cheap"]
    [found] = json.loads(write(tmp_path, "algolia", [measured], force=True)[1])["rules"]
    assert found["consequence"] == {"params": {"query": {"edits": [{"type": "remove", "delete": "cheap"}]}}}
    assert found["conditions"] == [{"pattern": "cheap", "anchoring": "contains"}]
    stats, _ = write(tmp_path, "es-synonyms", [measured], force=True)
    assert stats["left_out"] == {"delete: this format has none": 1} and stats["written"] == 0
    stats, _ = write(tmp_path, "querqy", [rule], force=True)
    assert stats["unhelpful"] == 1  # not replayed: a person must accept it


def algolia_literal(pattern):
    """Read a pattern without placeholders: special characters must be escaped."""
    assert not re.search(r"[*{}:]", re.sub(r"\\.", "", pattern))
    return re.sub(r"\\(.)", r"\1", pattern)


def test_algolia(tmp_path):
    kinds = {kind: rules_of(kind) for kind in ("synonym", "correction", "rewrite", "pin")}
    stats, text = write(tmp_path, "algolia", [rule for rules in kinds.values() for rule in rules])
    body = json.loads(text)
    assert stats["left_out"] == {}
    synonyms = {(one["input"], word) for one in body["synonyms"] for word in one["synonyms"]}
    assert {one["type"] for one in body["synonyms"]} == {"oneWaySynonym"} and synonyms == pairs(
        kinds["synonym"]
    )
    found = {"correction": set(), "rewrite": set(), "pin": set()}
    for rule in body["rules"]:
        [condition] = rule["conditions"]
        left, consequence = algolia_literal(condition["pattern"]), rule["consequence"]
        if "promote" in consequence:
            [promoted] = consequence["promote"]
            kind, right = "pin", promoted["objectID"]
            assert promoted["position"] == 0
        elif isinstance(consequence["params"]["query"], str):
            kind, right = "rewrite", consequence["params"]["query"]
        else:
            [edit] = consequence["params"]["query"]["edits"]
            assert edit["type"] == "replace" and edit["delete"] == left
            kind, right = "correction", edit["insert"]
        assert condition["anchoring"] == ("contains" if kind == "correction" else "is")
        found[kind].add((left, right))
    assert found == {kind: pairs(kinds[kind]) for kind in found}
    assert len({rule["objectID"] for rule in body["rules"]}) == len(body["rules"])


def querqy_unescape(text):
    """Undo the four escapes that Querqy knows; anything else is an error there."""
    assert not re.search(r'[*"#]', re.sub(r"\\.", "", text)), text
    assert re.sub(r'\\[\\"*#]', "", text).count("\\") == 0, text
    return re.sub(r"\\(.)", r"\1", text)


def querqy_term(text):
    """A term with a colon inside would name a field."""
    assert all(":" not in token[1:-1] for token in text.split()), text
    return querqy_unescape(text)


def read_querqy(text):
    found, left, whole = set(), None, False
    for line in text.split("\n"):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.endswith("=>"):
            left = line[:-2].strip()
            whole = len(left) > 1 and left[0] == '"' and left[-1] == '"'
            left = querqy_term(left[1:-1] if whole else left)
        elif line.startswith("SYNONYM:"):
            found.add((whole, left, "SYNONYM", querqy_term(line.removeprefix("SYNONYM:").strip())))
        else:
            query = re.fullmatch(r"UP\(1000\): \* (.*)", line)[1]
            assert "%%" not in query
            found.add((whole, left, "UP", query))
    return found


@pytest.mark.parametrize(("kind", "whole"), [("synonym", False), ("correction", False), ("rewrite", True)])
def test_querqy(tmp_path, kind, whole):
    rules = rules_of(kind)
    stats, text = write(tmp_path, "querqy", rules)
    unsafe = {"a => b", "{facet:brand} *", "id:1 or 1:1", "def x", "@_id"}
    safe = {pair for pair in pairs(rules) if not set(pair) & unsafe}
    assert read_querqy(text) == {(whole, left, "SYNONYM", right) for left, right in safe}
    assert stats["written"] == len(safe)
    assert stats["left_out"] == {f"{kind}: Querqy cannot express its characters": len(rules) - len(safe)}


def test_querqy_pins(tmp_path):
    ids = ["sku-1", "a b", "ünï", "it's", 'quo"te', "back\\slash", "#1", "100%%", "two\nlines"]
    pins = [Rule("pin", "call of duty", doc, 9, 1, (0.7, 1)) for doc in ids]
    stats, text = write(tmp_path, "querqy", pins)
    assert read_querqy(text) == {(True, "call of duty", "UP", f'id:"{doc}"') for doc in ids[:4]}
    assert stats["left_out"] == {"pin: Querqy cannot express the id": 5}
    stats, text = write(tmp_path, "querqy", pins, id_field="_id", force=True)
    queries = {json.loads(query)["term"]["_id"] for _, _, _, query in read_querqy(text)}
    assert queries == set(ids[:4])


@pytest.mark.parametrize("to", FORMATS)
def test_no_rules_are_a_file_too(tmp_path, to):
    stats, text = write(tmp_path, to, [])
    assert stats["written"] == 0 and text


def test_wrong_arguments(tmp_path):
    with pytest.raises(UserError, match="unknown format 'solr'"):
        write_rules([], "solr", tmp_path / "out")
    with pytest.raises(UserError, match="cannot be the name of a field"):
        write_rules([], "querqy", tmp_path / "out", id_field='x":1 id')
    with pytest.raises(UserError, match="there is no such directory"):
        write_rules([], "querqy", tmp_path / "absent" / "out")
