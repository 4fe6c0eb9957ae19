"""Units of words and characters: the examples of Jiang et al. 2016, and random data against plain Python."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coclick.text.ngrams
from coclick.arrays.strings import Strings, Vocab
from coclick.errors import UserError
from coclick.jit.threads import set_threads
from coclick.storage.artefact import Artefact, ArtefactWriter
from coclick.storage.state import read_value, write_value
from coclick.text.analyzer import Analyzer, Tokens, VocabularyBuilder
from coclick.text.ngrams import CharUnits, UnitTable, WordUnits, character_sequences
from coclick.text.normalise import normalise

NO_DISPLAY_TERMS = Strings.from_list([])


class Collection:
    """Texts, their vocabulary and their word units."""

    def __init__(self, texts: list[str], min_texts: int = 2) -> None:
        self.analyzer = Analyzer()
        index = VocabularyBuilder()
        tokens = self.analyzer.analyze(texts, index)
        finished = index.finish()
        self.terms = Vocab.from_list(finished.terms)
        self.display_terms = Strings.from_list(finished.display_terms)
        self.incidence = WordUnits.extract(tokens.renumbered(finished.new_ids), min_texts)
        self.units = self.incidence.table

    def labels(self, units: np.ndarray) -> set[str]:
        labels = self.units.labels(units, self.display_terms)
        assert len(set(labels)) == len(labels)
        return set(labels)

    def sequences(self, text: str) -> Tokens:
        return self.analyzer.lookup_terms([text], self.terms)

    def decompose(self, text: str) -> set[str]:
        return self.labels(self.units.decompose(self.sequences(text))[0])


def tokens_of(rows: list[list[int]]) -> Tokens:
    indptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return Tokens(indptr, np.array([symbol for row in rows for symbol in row], np.int32))


def grams_with_spans(row: list[int], min_n: int, max_n: int) -> list[tuple[tuple[int, ...], int]]:
    return [
        (tuple(row[start : start + size]), start)
        for start in range(len(row))
        for size in range(min_n, max_n + 1)
        if start + size <= len(row) and min(row[start : start + size]) >= 0
    ]


def unpadded(table: UnitTable) -> list[tuple[int, ...]]:
    return [tuple(symbol for symbol in gram if symbol >= 0) for gram in table.grams().tolist()]


def test_walmart_credit_card() -> None:
    shop = Collection(["walmart", "walmart", "credit card", "credit card", "money"])
    assert shop.labels(np.arange(len(shop.units))) == {"walmart", "credit", "card", "credit card"}
    assert shop.decompose("walmart credit card") == {"walmart", "credit card"}
    assert shop.decompose("card walmart credit") == {"walmart", "credit", "card"}
    assert shop.labels(shop.units.incidence(shop.sequences("walmart credit card"))[0]) == {
        "walmart",
        "credit",
        "card",
        "credit card",
    }


def test_how_long_is_into_the_storm() -> None:
    movies = Collection(["how long is", "is into the", "into the storm"] * 2)
    assert "long is into" not in movies.labels(np.arange(len(movies.units)))
    assert movies.decompose("how long is into the storm") == {"how long is", "is into the", "into the storm"}


def test_a_repeated_unit_is_dropped_only_if_all_occurrences_are_covered() -> None:
    shop = Collection(["credit card", "credit card", "walmart", "walmart"])
    assert shop.decompose("card credit card") == {"card", "credit card"}  # the first card is not covered
    assert shop.decompose("credit card credit card") == {"credit card"}  # both are covered
    assert shop.decompose("walmart walmart walmart") == {"walmart"}


def test_unknown_words_are_gaps() -> None:
    shop = Collection(["walmart credit card", "walmart credit card"])
    assert shop.decompose("walmart credit card") == {"walmart credit card"}
    assert shop.decompose("walmart best credit card") == {"walmart", "credit card"}
    assert shop.decompose("nothing known") == set()
    assert shop.decompose("") == set()


def test_found_units_have_spans() -> None:
    shop = Collection(["walmart", "walmart", "credit card", "credit card"])
    found = shop.units.find(shop.sequences("my walmart credit card"))
    labels = shop.units.labels(found.units, shop.display_terms)
    assert list(zip(labels, found.starts.tolist(), found.sizes.tolist(), strict=True)) == [
        ("walmart", 1, 1),
        ("credit", 2, 1),
        ("credit card", 2, 2),
        ("card", 3, 1),
    ]


def test_the_unit_that_spans_the_whole_text() -> None:
    shop = Collection(["credit card", "credit card", "walmart card", "card", "gold credit card", ""])
    incidence = shop.incidence
    assert [
        shop.labels(incidence.whole[i : i + 1]) if incidence.whole[i] >= 0 else None for i in range(6)
    ] == [
        {"credit card"},
        {"credit card"},
        None,  # "walmart card" is no unit
        {"card"},
        None,
        None,
    ]
    others = incidence.without_full_text()
    assert [shop.labels(others[i]) for i in range(6)] == [
        {"credit", "card"},
        {"credit", "card"},
        {"card"},
        set(),
        {"credit", "card", "credit card"},
        set(),
    ]
    assert (others.whole == -1).all()


def test_labels_show_the_most_frequent_surface_forms() -> None:
    shop = Collection(["running shoes", "running shoes", "run shoe"])
    assert shop.labels(np.arange(len(shop.units))) == {"running", "shoes", "running shoes"}


ROWS = st.lists(st.lists(st.integers(-1, 4), max_size=9), max_size=12)


@settings(deadline=None)
@given(ROWS, st.integers(1, 3), st.sampled_from([(1, 3), (1, 1), (2, 4), (3, 5)]))
def test_extraction_against_plain_python(
    rows: list[list[int]], min_texts: int, sizes: tuple[int, int]
) -> None:
    held = [{gram for gram, _ in grams_with_spans(row, *sizes)} for row in rows]
    counts = Counter(gram for grams in held for gram in grams)
    expected = sorted((g for g, count in counts.items() if count >= min_texts), key=lambda g: (len(g), g))
    incidence = WordUnits.extract(tokens_of(rows), min_texts, sizes)
    table = incidence.table
    assert unpadded(table) == expected
    ids = {gram: i for i, gram in enumerate(expected)}
    assert [incidence[i].tolist() for i in range(len(rows))] == [
        sorted(ids[gram] for gram in grams if gram in ids) for grams in held
    ]
    assert incidence.whole.tolist() == [ids.get(tuple(row), -1) for row in rows]
    by_unit = incidence.by_unit()
    assert [
        by_unit.indices[a:b].tolist() for a, b in zip(by_unit.indptr[:-1], by_unit.indptr[1:], strict=True)
    ] == [[i for i, grams in enumerate(held) if gram in grams] for gram in expected]


@settings(deadline=None)
@given(ROWS, ROWS)
def test_decomposition_against_plain_python(seen: list[list[int]], new: list[list[int]]) -> None:
    table = WordUnits.extract(tokens_of(seen), 2).table
    ids = {gram: i for i, gram in enumerate(unpadded(table))}
    found, decomposed = table.find(tokens_of(new)), table.decompose(tokens_of(new))
    for i, row in enumerate(new):
        known = [(gram, start) for gram, start in grams_with_spans(row, 1, 3) if gram in ids]
        here = slice(found.indptr[i], found.indptr[i + 1])
        assert found.units[here].tolist() == [ids[gram] for gram, _ in known]
        assert found.starts[here].tolist() == [start for _, start in known]
        assert found.sizes[here].tolist() == [len(gram) for gram, _ in known]
        uncovered = {
            ids[gram]
            for gram, start in known
            if not any(
                len(longer) > len(gram) and place <= start and start + len(gram) <= place + len(longer)
                for longer, place in known
            )
        }
        assert decomposed[i].tolist() == sorted(uncovered)


def character_reference(text: str, min_n: int, max_n: int) -> set[str]:
    """The n-grams of padded words and of all words run together."""
    letters = "".join(
        c if c.isalnum() else "" if c == "'" else " " for c in normalise(text).replace("’", "'")
    )
    words = letters.split()
    runs = [f"_{word}_" for word in words] + (["".join(words)] if len(words) > 1 else [])
    return {
        run[start : start + size]
        for run in runs
        for size in range(min_n, max_n + 1)
        for start in range(len(run) - size + 1)
    }


def character_labels(incidence: coclick.text.ngrams.Incidence, text: int) -> set[str]:
    return {label.strip("~") for label in incidence.table.labels(incidence[text], NO_DISPLAY_TERMS)}


def test_characters_of_run_together_words() -> None:
    incidence = CharUnits.extract(character_sequences(["Walmart money card", "walmartmoneycard"]))
    spaced, together = character_labels(incidence, 0), character_labels(incidence, 1)
    assert together == spaced  # no other n-gram is in two texts
    assert {"_wal", "tmo", "tmon", "rtmon", "card_"} <= together
    everything = CharUnits.extract(character_sequences(["walmart money card", "walmartmoneycard"]), 1)
    assert character_labels(everything, 1) < character_labels(everything, 0)
    assert {"rt_", "_mo"} <= character_labels(everything, 0) - character_labels(everything, 1)


def test_characters_of_one_word_by_hand() -> None:
    incidence = CharUnits.extract(character_sequences(["TV"]), 1)
    assert incidence.table.labels(incidence[0], NO_DISPLAY_TERMS) == ["~_tv~", "~tv_~", "~_tv_~"]
    assert incidence.table.labels(incidence.whole, NO_DISPLAY_TERMS) == ["~_tv_~"]
    assert character_labels(CharUnits.extract(character_sequences(["a b"]), 1), 0) == {"_a_", "_b_"}
    assert character_labels(CharUnits.extract(character_sequences(["women's"]), 1, (6, 6)), 0) == {
        "_women",
        "womens",
        "omens_",
    }


def test_characters_decompose_into_all_of_them() -> None:
    table = CharUnits.extract(character_sequences(["walmart", "walmart"])).table
    decomposed = table.decompose(character_sequences(["wallmart"]))
    assert character_labels(decomposed, 0) == {
        *("_wa", "wal", "mar", "art", "rt_", "_wal", "mart", "art_", "mart_"),
        *("lma", "lmar", "lmart"),
    }


@settings(deadline=None)
@given(
    st.lists(st.text(st.sampled_from("abcé手 -'’!1"), max_size=20), max_size=8),
    st.integers(1, 2),
    st.sampled_from([(3, 5), (1, 2), (2, 6)]),
)
def test_characters_against_plain_python(texts: list[str], min_texts: int, sizes: tuple[int, int]) -> None:
    held = [character_reference(text, *sizes) for text in texts]
    counts = Counter(gram for grams in held for gram in grams)
    incidence = CharUnits.extract(character_sequences(texts), min_texts, sizes)
    for i, grams in enumerate(held):
        assert character_labels(incidence, i) == {gram for gram in grams if counts[gram] >= min_texts}


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=())), max_size=6))
def test_no_text_makes_characters_raise(texts: list[str]) -> None:
    sequences = character_sequences(texts)
    assert len(sequences) == len(texts)
    incidence = CharUnits.extract(sequences, 1)
    assert len(incidence) == len(texts)
    incidence.table.labels(np.arange(len(incidence.table)), NO_DISPLAY_TERMS)


def test_blocks_and_threads_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    rows = [random.integers(-1, 30, random.integers(0, 12)).tolist() for _ in range(400)]
    results = []
    for threads, block in ((1, 1 << 18), (1, 50), (2, 50)):
        set_threads(threads)
        monkeypatch.setattr(coclick.text.ngrams, "_BLOCK", block)
        incidence = WordUnits.extract(tokens_of(rows))
        decomposed = incidence.table.decompose(tokens_of(rows))
        results.append(
            [a.tolist() for i in (incidence, decomposed) for a in (i.indptr, i.units, i.whole)]
            + [incidence.table.symbols.tolist(), incidence.table.children.tolist()]
        )
    set_threads(None)
    assert results[0] == results[1] == results[2]


def test_the_hash_table_grows() -> None:
    words = 6000  # each pair of neighbours occurs in two texts
    rows = [[i, i + 1] for i in range(words)] * 2
    table = WordUnits.extract(tokens_of(rows)).table
    assert np.diff(table.levels).tolist() == [words + 1, words, 0]
    assert table.grams(np.array([words + 1, 2 * words])).tolist() == [[0, 1, -1], [words - 1, words, -1]]


def test_empty_collections() -> None:
    for rows in ([], [[]], [[-1, -1]], [[0], [1]]):
        incidence = WordUnits.extract(tokens_of(rows))
        assert len(incidence.table) == 0
        assert len(incidence) == len(rows)
        assert incidence.table.decompose(tokens_of([[0, 1]])).units.tolist() == []
        assert incidence.table.labels(np.empty(0, np.int64), NO_DISPLAY_TERMS) == []
        assert incidence.by_unit().indptr.tolist() == [0]


def test_wrong_sizes_and_unknown_units_are_errors() -> None:
    for sizes, min_texts in (((0, 3), 2), ((3, 2), 2), ((1, 3), 0)):
        with pytest.raises(UserError):
            WordUnits.extract(tokens_of([[0]]), min_texts, sizes)
    table = WordUnits.extract(tokens_of([[0], [0]])).table
    for unit in (-1, 1):
        with pytest.raises(IndexError):
            table.grams(np.array([unit]))


def test_a_corrupt_table_has_a_defect_or_finds_nothing() -> None:
    table = WordUnits.extract(tokens_of([[0, 1, 2]] * 2)).table
    assert table.find_defect() is None
    # Nodes 0, 1, 2 are words, 3 and 4 pairs, 5 is the triple.
    assert (table.levels.tolist(), table.children.tolist()) == ([0, 3, 5, 6], [3, 4, 5, 5, 6, 6, 6])
    for levels, min_n in (
        (table.levels + 1, 1),
        (table.levels[::-1], 1),
        (table.levels, 4),
        (table.levels, 0),
    ):
        assert WordUnits(table.symbols, table.children, levels, min_n).find_defect()
    for place, pointer in ((-1, 7), (1, 6), (0, 2), (0, -1)):
        children = table.children.copy()
        children[place] = pointer
        assert WordUnits(table.symbols, children, table.levels, 1).find_defect()
    for wrong in (-5, 10**12):
        corrupt = WordUnits(table.symbols, np.full_like(table.children, wrong), table.levels, 1)
        assert set(corrupt.find(tokens_of([[0, 1, 2]])).sizes.tolist()) == {1}


@pytest.mark.parametrize("kind", [WordUnits, CharUnits])
def test_tables_are_saved_and_read(kind: type[UnitTable], tmp_path: Path) -> None:
    table = kind.extract(tokens_of([[1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 7]])).table
    analyzer = Analyzer("german", remove_stop_words=True)
    out = ArtefactWriter(tmp_path)
    entries = {name: write_value(out, name, value) for name, value in (("t", table), ("a", analyzer))}
    out.commit("test", state=entries)
    source = Artefact(tmp_path)
    opened = read_value(source, "t", entries["t"])
    assert type(opened) is kind
    assert unpadded(opened) == unpadded(table)
    row = tokens_of([[2, 3, 4, 5]])
    assert opened.decompose(row).units.tolist() == table.decompose(row).units.tolist()
    assert read_value(source, "a", entries["a"]) == analyzer


def test_an_analyzer_that_was_saved_without_a_tokenizer_is_read(tmp_path: Path) -> None:
    stored = {"language": "german", "stem": False, "remove_stop_words": False}
    entry = {"type": "Analyzer", "fields": {k: {"type": "json", "value": v} for k, v in stored.items()}}
    ArtefactWriter(tmp_path).commit("test", state={"a": entry})
    assert read_value(Artefact(tmp_path), "a", entry) == Analyzer("german", stem=False)
