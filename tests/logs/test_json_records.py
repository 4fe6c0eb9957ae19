"""JSON arrays, pages of hits and indented objects become one record per line, with line numbers."""

import io
import json
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coclick.logs import json_records
from coclick.logs.json_records import is_by_line, page_path, split_records


def split(tmp_path, text, path=None):
    """Return (line, defect, record as text) of each record."""
    data = text if isinstance(text, bytes) else text.encode()
    out, places = tmp_path / "out.ndjson", tmp_path / "places.tsv"
    n = split_records(io.BytesIO(data), path, out, places)
    lines = out.read_bytes().split(b"\n")[:-1]
    found = [line.split("\t") for line in places.read_text().split("\n")[:-1]]
    assert len(lines) == len(found) == n
    return [
        (int(line), defect, text.decode(errors="replace"))
        for (line, defect), text in zip(found, lines, strict=True)
    ]


def right(records):
    """The records that are JSON, with their lines."""
    found = []
    for line, _, text in records:
        try:
            found.append((line, json.loads(text)))
        except (ValueError, RecursionError):
            continue
    return found


def test_arrays(tmp_path):
    assert right(split(tmp_path, '[{"a":1},{"a":2}]')) == [(1, {"a": 1}), (1, {"a": 2})]
    indented = '[\n  {\n    "a": 1\n  },\n  {\n    "a": [{"b": 2}]\n  }\n]\n'
    assert right(split(tmp_path, indented)) == [(2, {"a": 1}), (5, {"a": [{"b": 2}]})]
    assert right(split(tmp_path, indented.replace("\n", "\r\n"))) == right(split(tmp_path, indented))
    assert right(split(tmp_path, indented.replace("\n", "\r"))) == right(split(tmp_path, indented))
    assert right(split(tmp_path, '[[{"a":1},\n{"a":2}],\n[{"a":3}], []]')) == [
        (1, {"a": 1}), (2, {"a": 2}), (3, {"a": 3}),
    ]  # fmt: skip
    assert split(tmp_path, "[]") == split(tmp_path, "") == split(tmp_path, "[[], []]") == []
    assert right(split(tmp_path, '\ufeff[{"a":1}]\n[{"a":2}]')) == [(1, {"a": 1}), (2, {"a": 2})]
    assert split(tmp_path, '[[[1]], "x", null, 7]') == [
        (1, "", "[1]"),
        (1, "", '"x"'),
        (1, "", "null"),
        (1, "", "7"),
    ]


def test_pages(tmp_path):
    page = (
        '{"took": 3, "hits": {"n": {"value": 2}, "hits": [{"_id": "a"},\n{"_id": "b"}], "max": [1]}, "x": {}}'
    )
    assert page_path(page) == page_path(page[:60]) == ("hits", "hits")
    two = page + "\n" + page
    assert [(line, hit["_id"]) for line, hit in right(split(tmp_path, two, ("hits", "hits")))] == [
        (1, "a"), (2, "b"), (3, "a"), (4, "b"),
    ]  # fmt: skip
    records = split(tmp_path, '{"error": {"hits": 1}}\n' + page, ("hits", "hits"))
    assert records[0] == (1, json_records.NO_RECORDS, records[0][2]) and len(records) == 3
    assert split(tmp_path, '{"hits": {"hits": []}}', ("hits", "hits")) == []
    assert page_path('{"response": {"numFound": 2, "docs": [{"id": 1}]}}') == ("response", "docs")
    assert page_path('{"events": [{"a": 1}]}') == ("events",)
    for other in (
        '{"hits": [1]}',
        '{"query": "x", "events": [{"a": 1}]}',
        "[1]",
        '{"hits": {"hits": 3}}',
        "{",
    ):
        assert page_path(other) is None, other


def test_by_line():
    assert is_by_line(['{"a": 1}', '{"b": {'])
    assert is_by_line(["nonsense", '{"a": 1}'])
    assert not is_by_line(["[", '{"a": 1}', "]"])
    assert not is_by_line(["{", '"a": 1', "}"])
    assert not is_by_line(['{"hits": {"hits": []}}'])


@pytest.mark.parametrize(
    ("text", "records"),
    [
        ('[{"a":1},{"a":2', [(1, "", '{"a":1}'), (1, json_records.CUT_OFF, '{"a":2')]),
        ('[{"a":1},\n', [(1, "", '{"a":1}'), (2, json_records.ARRAY_CUT_OFF, "[")]),
        # a bracket is missing: the next record is found
        (
            '[{"a":{"b":1},\n{"a":2},\n{"a":3}]',
            [(1, "", '{"a":{"b":1},'), (2, "", '{"a":2}'), (3, "", '{"a":3}')],
        ),
        ('[{"a":[1,2},\n{"a":2}]', [(1, "", '{"a":[1,2'), (2, "", '{"a":2}')]),
        # a quote is missing: strings have no line ends
        ('[{"a":"x},\n{"a":2}]', [(1, "", '{"a":"x}'), (2, "", '{"a":2}')]),
        ('[{"a" 1},{"a":2}]', [(1, "", '{"a" 1}'), (1, "", '{"a":2}')]),
        ('[nonsense, {"a":2}]', [(1, "", "nonsense"), (1, "", '{"a":2}')]),
        ('{"a":1}}\n]{"a":2}', [(1, "", '{"a":1}'), (2, "", '{"a":2}')]),
    ],
)
def test_broken_records(tmp_path, text, records):
    assert split(tmp_path, text) == records


def test_bytes_that_are_not_utf_8_stay_as_they_are(tmp_path):
    split(tmp_path, b'[{"a":"x"},{"a":"caf\xe9"},{"a":"y"}]')
    assert (tmp_path / "out.ndjson").read_bytes() == b'{"a":"x"}\n{"a":"caf\xe9"}\n{"a":"y"}\n'


def test_long_and_deep_records(tmp_path):
    long = json.dumps({"a": "x" * 9_000_000})
    deep = "[" * 300_000 + "]" * 300_000
    records = split(tmp_path, f'[{{"a":1}},\n{long},\n{{"a":2,"b":{deep}}},\n{{"a":3}}]')
    assert right(records) == [(1, {"a": 1}), (4, {"a": 3})]
    assert [defect for _, defect, _ in records] == ["", json_records.TOO_LONG, json_records.TOO_DEEP, ""]
    assert all(len(text) <= 10_000 for _, _, text in records)


def test_memory_is_bounded(tmp_path):
    """A record of 60 MB between others; the text is made while it is read."""

    class Text(io.RawIOBase):
        blocks = iter([b'[{"a":1},{"b":"', *[b"x" * 1_000_000] * 60, b'"},{"a":2}]'])
        rest = b""

        def readable(self):
            return True

        def readinto(self, buffer):
            self.rest = self.rest or next(self.blocks, b"")
            n = min(len(buffer), len(self.rest))
            buffer[:n], self.rest = self.rest[:n], self.rest[n:]
            return n

    tracemalloc.start()
    split_records(io.BufferedReader(Text()), None, tmp_path / "out", tmp_path / "places")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (tmp_path / "places").read_text() == f"1\t\n1\t{json_records.TOO_LONG}\n1\t\n"
    assert peak < 60_000_000


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=6)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(st.text(max_size=3), VALUES, max_size=3), max_size=8)


@settings(max_examples=60, deadline=None)
@given(
    objects=OBJECTS,
    indent=st.sampled_from([None, 0, 2]),
    shape=st.sampled_from(["array", "nested", "page", "bare"]),
    block=st.integers(1, 40),
)
def test_any_records(tmp_path_factory, objects, indent, shape, block):
    """Every record comes back, whatever the blocks are that it is read in; lines are counted naively."""
    tmp_path = tmp_path_factory.mktemp("split")
    start, end = {
        "array": ("[\n", "]"),
        "nested": ("[[", "], []]"),
        "page": ('{"hits":{"n":[1],\n"hits":[', "]}}\n"),
        "bare": ("", ""),
    }[shape]
    text, expected = start, []
    for number, record in enumerate(objects):
        if number:
            text += "\n" if shape == "bare" else ",\n"
        expected.append((text.count("\n") + 1, record))
        text += json.dumps(record, indent=indent, ensure_ascii=False)
    text += end
    before, json_records._BLOCK = json_records._BLOCK, block
    try:
        found = split(
            tmp_path, text.encode("utf-8", "surrogatepass"), ("hits", "hits") if shape == "page" else None
        )
    finally:
        json_records._BLOCK = before
    assert right(found) == expected
    assert all(defect == "" for _, defect, _ in found)


@settings(max_examples=100, deadline=None)
@given(text=st.text(alphabet='{}[]",:a1\\\n ', max_size=40), block=st.integers(1, 10), page=st.booleans())
def test_any_text_ends(tmp_path_factory, text, block, page):
    """No text is too broken: and no character but brackets, commas and blanks is lost."""
    before, json_records._BLOCK = json_records._BLOCK, block
    try:
        found = split(tmp_path_factory.mktemp("split"), text, ("hits", "hits") if page else None)
    finally:
        json_records._BLOCK = before
    if not page:
        assert sorted("".join(text for *_, text in found).translate(DROPPED)) == sorted(
            text.translate(DROPPED)
        )


DROPPED = str.maketrans("", "", "{}[], \n")
