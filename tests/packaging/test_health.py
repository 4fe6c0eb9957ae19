"""Coverage by room, from a report by hand."""

from health import by_room


def test_lines_are_summed_by_room():
    def file(covered, lines):
        return {"summary": {"covered_lines": covered, "num_statements": lines}}

    files = {
        "src/coclick/text/words.py": file(3, 4),
        "src/coclick/text/deep/inside.py": file(1, 6),
        "src/coclick/errors.py": file(5, 5),
        "/a/coclick/graph/click_graph.py": file(0, 7),
    }
    assert by_room(files) == [("errors", 5, 5), ("graph", 0, 7), ("text", 4, 10)]
