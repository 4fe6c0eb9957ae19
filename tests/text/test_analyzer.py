"""Normalisation, words, terms and vocabularies: rules by example, batches against single texts."""

from __future__ import annotations

import unicodedata
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import coclick.text.analyzer
import coclick.text.normalise
from coclick.arrays.strings import Vocab
from coclick.errors import UserError
from coclick.text.analyzer import Analyzer, VocabularyBuilder, remembered_tokens
from coclick.text.languages import LANGUAGES
from coclick.text.normalise import normalise, normalise_batch
from coclick.text.query import Query, lookup_query_terms
from coclick.text.stopwords import STOP_WORDS
from coclick.text.tokenizer import split_words

# All code points, surrogates and control characters too, with extra weight on those that the rules treat.
NASTY = (
    "\n\r\t \x00\x1f\x7f\x85\xa0\u2028\u200b\u00ad\ufeff\u0301\u0345\u0308\u1160\ud800"
    "İſßΣςǰ½™℠ﬁ…'’-./&+#,_한が手ー😀\ufe0f\u20e3"
)
ANYTHING = st.text(st.one_of(st.sampled_from(NASTY), st.characters(exclude_categories=())), max_size=40)
WORDS = Analyzer(tokenizer="words")
TYPED = st.text(st.sampled_from("abc19 -'./&+#,_é手機"), max_size=40)


def reference_fold(text: str) -> str:
    """NFKC_Casefold from its definition: fold until stable, then compose. Ignorable characters stay."""
    while (folded := unicodedata.normalize("NFKC", text).casefold()) != text:
        text = folded
    return unicodedata.normalize("NFC", text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  Hello\t\r\n  WORLD  ", "hello world"),
        ("Straße", "strasse"),
        ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
        ("ＵＳＢ－Ｃ", "usb-c"),
        ("ﬁre", "fire"),
        ("cafe\u0301", "café"),
        ("a\x00b\x07c\x7fd", "a b c d"),
        ("a\u00a0b\u3000c\u2028d", "a b c d"),
        ("co\u00adoperate\ufeff\u200b", "cooperate"),
        ("iPad™ Air", "ipad air"),
        ("3½ in", "3 1⁄2 in"),
        ("½", "1⁄2"),
        ("bad \ud800 half", "bad half"),
        ("\u0301acute first", "\u0301acute first"),
        ("\n", ""),
        ("", ""),
    ],
)
def test_normalise_by_hand(text: str, expected: str) -> None:
    assert normalise(text) == expected


@given(ANYTHING)
def test_normalise_is_idempotent_and_clean(text: str) -> None:
    normal = normalise(text)
    assert normalise(normal) == normal
    assert unicodedata.is_normalized("NFKC", normal)
    assert unicodedata.normalize("NFKC", normal.casefold()) == normal
    assert normal == " ".join(normal.split())
    assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in normal)


@given(ANYTHING)
def test_normalise_ignores_how_characters_are_composed(text: str) -> None:
    assert normalise(unicodedata.normalize("NFD", text)) == normalise(text)


@given(st.lists(ANYTHING, max_size=12))
def test_normalise_batch_is_normalise(texts: list[str]) -> None:
    assert normalise_batch(texts) == [normalise(text) for text in texts]


def test_normalise_all_characters() -> None:
    # The rest are ideographs, private characters, and the tags and selectors of plane 14.
    everything = [chr(code) for code in [*range(0x20000), *range(0xE0000, 0xE1000)]]
    normal = normalise_batch(everything)
    assert normalise_batch(normal) == normal
    for code in [*range(0x3000), *range(0xA000, 0xB000), *range(0xF900, 0x10000)]:
        reference = reference_fold(everything[code])
        if normal[code] and everything[code] not in "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞⅟↉":
            assert normal[code] == " ".join(reference.split()), hex(code)


def test_marks_do_not_combine_across_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coclick.text.normalise, "_CHUNK_TEXTS", 3)
    texts = ["e", "\u0301e", "e\n\u0301", "", "\u1161", "ᄀ", "\u1161\n", "plain"]
    assert normalise_batch(texts) == ["e", "\u0301e", "e \u0301", "", "\u1161", "ᄀ", "\u1161", "plain"]
    assert normalise_batch([]) == []
    assert normalise_batch([""]) == [""]


WHOLE = """
    usb-c m12x1.5 wi-fi t-shirt c++ c# .net rtx-3080 1/2 at&t o'neill levi's 3.5mm node.js 4x4 a4-paper
    hi-fi co-op e-mail x-ray vitamin-d cd-r wd-40 b-12 555-1234 978-0-306-40615-7 1-1/2 covid-19 f# g++
    c++11 notepad++ a/c r&b m&ms .22 192.168.1.1 4/64gb rock'n'roll 5'10 1990s
"""


@pytest.mark.parametrize("kept", WHOLE.split())
def test_words_that_stay_whole(kept: str) -> None:
    assert WORDS.words(kept) == [kept]
    assert WORDS.words(f"buy ({kept.upper()})!") == ["buy", kept]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("New-York", "new york"),
        ("cancer-related", "cancer related"),
        ("state-of-the-art", "state of the art"),
        ("animal-to-plant", "animal to plant"),
        ("tv-stand pop-up micro-sd", "tv stand pop up micro sd"),
        ("12-pack 2-in-1 5-gallon", "12 pack 2 in 1 5 gallon"),
        ("into-the-storm-2014", "into the storm 2014"),
        ("usb‑c e–mail", "usb-c e-mail"),
        ("rock-n-roll", "rock n roll"),
        ("-5 a- -- b", "5 a b"),
        ("Levi’s O‘Neill dogs' 'quoted'", "levi's o'neill dogs quoted"),
        ('“smart” «quotes» (brackets) [x] 5" 50% $9.99', "smart quotes brackets x 5 50 9.99"),
        ("U.S.A. e.g. J.R.R.Tolkien", "usa eg jrr tolkien"),
        ("so good.At home. In 2020.The end", "so good at home in 2020 the end"),
        ("asp.net c#.net vue.js no.5 vol.2", "asp net c# net vue.js no 5 vol 2"),
        ("wait...5", "wait 5"),
        ("black&decker & salt&pepper", "black decker salt pepper"),
        ("and/or w/mic", "and or w mic"),
        ("10,000 1,234,567.50 a,b 6,8,10 12,34", "10000 1234567.50 a b 6 8 10 12 34"),
        ("½ cup 3½ ¾″", "1/2 cup 3 1/2 3/4"),
        ("#2 #hashtag snake_case disney+", "2 hashtag snake case disney"),
        ("https://www.yahoo.com/finance", "yahoo com finance"),
        ("HTTP://Example.org:8080/new-york?q=usb-c", "example org 8080 new york q usb-c"),
        ("www.amazon.com (www.x.de)", "amazon com x de"),
        ("www yahoo com", "www yahoo com"),
        ("me@mail.org", "me mail org"),
        ("EcoSmart® iPad™", "ecosmart ipad"),
        ("naïve Café Ångström Œuvre", "naïve café ångström œuvre"),
        ("हिन्दी ภาษา עברית", "हिन्दी ภาษา עברית"),
        ("😀🎉 👩‍👩‍👧 🇩🇪", ""),
        ("pizza🍕party 1️⃣", "pizza party 1"),
        ("\u0301\u0302 \u0301x ¨", "x"),
        ("... --- !!! ++ #", ""),
    ],
)
def test_words_by_hand(text: str, expected: str) -> None:
    assert WORDS.words(text) == expected.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("手机", ["手机"]),
        ("手机壳", ["手机", "机壳"]),
        ("机", ["机"]),
        ("iPhone15ケース", ["iphone15", "ケー", "ース"]),
        ("ｽﾏｰﾄ", ["スマ", "マー", "ート"]),
        ("東京のホテル", ["東京", "京の", "のホ", "ホテ", "テル"]),
        ("한국어 쇼핑 옷", ["한국", "국어", "쇼핑", "옷"]),
        ("2024年 usb-c充電", ["2024", "年", "usb-c", "充電"]),
        ("手、机。", ["手", "机"]),
        ("𠮷野家", ["𠮷野", "野家"]),
    ],
)
def test_cjk_bigrams(text: str, expected: list[str]) -> None:
    assert WORDS.terms(text) == expected


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("23.5-in", "23.5 in"),
        ("t-fitting", "t fitting"),
        ("8ft", "8 ft"),
        ("1/2", "1 2"),
        ("2x4", "2 x 4"),
        ("2x4x8ft", "2 x 4 8 ft"),  # each piece once
        ("1-1/2", "1 2"),
        ("3.5mm", "3.5 mm"),
        ("m12x1.5", "m 12 x 1.5"),
        ("ps3", "ps 3"),
        ("usb-c", "usb c"),
        ("node.js", "node js"),
        ("at&t", "at t"),
        ("c++11", "c++ 11"),
        ("5'10", "5 10"),
        ("rock'n'roll2", "rock'n'roll 2"),
        ("größe38", "grösse 38"),
        ("1-2-3-4-5-6", "1 2 3 4 5 6"),
        ("1-2-3-4-5-6-7", ""),
        ("b0013tx6fi9z", ""),
        ("o'neill levi's c# g++ 192.168.1.1 3.5 2024 covid カ8", ""),
    ],
)
def test_pieces_follow_their_word(word: str, pieces: str) -> None:
    split = Analyzer(stem=False).words(word)
    assert split == [*WORDS.words(word), *pieces.split()]
    assert Analyzer(stem=False).whole_words(word) == WORDS.words(word)
    query = Query.list_of([word], Vocab.from_list([]))[0]
    assert query.words(Analyzer(stem=False)) == split and query.words(WORDS) == WORDS.words(word)


def test_pieces_are_terms_like_others() -> None:
    assert Analyzer().terms("T-Shirts") == ["t-shirts", "t", "shirt"]
    assert Analyzer(remove_stop_words=True).terms("23.5-in wide") == ["23.5-in", "23.5", "wide"]
    assert Analyzer("german").terms("Schrauben M8x40") == ["schraub", "m8x40", "m", "8", "x", "40"]
    assert Analyzer("french").terms("l'iphone15") == ["iphone15", "iphon", "15"]
    assert Analyzer("japanese").terms("iPhone15ケース") == ["iphone15", "iphone", "15", "ケー", "ース"]


def test_long_words_are_truncated_to_100_characters() -> None:
    assert Analyzer(stem=False).terms("x" * 300 + " y") == ["x" * 100, "y"]
    assert Analyzer(stem=False).terms("é" * 101) == ["é" * 100]
    assert Analyzer(stem=False, tokenizer="words").terms("z" * 99 + "-" + "1" * 50) == ["z" * 99 + "-"]


def test_codes_are_not_stemmed() -> None:
    english = Analyzer(tokenizer="words")
    assert english.terms("Running shoes for women's boxes") == ["run", "shoe", "for", "women", "box"]
    assert english.terms("womens women's women") == ["women"] * 3
    assert english.terms("usb-c 1990s boxes2 node.js t-shirts") == [
        "usb-c",
        "1990s",
        "boxes2",
        "node.js",
        "t-shirts",
    ]
    assert Analyzer(stem=False).terms("running shoes") == ["running", "shoes"]
    assert Analyzer("german").terms("Häuser Straßen") == ["haus", "strass"]
    assert Analyzer("french").terms("l'huile d'olive") == ["huil", "oliv"]


def test_stop_words_are_removed_on_request() -> None:
    assert Analyzer().terms("the card of the bank") == ["the", "card", "of", "the", "bank"]
    assert Analyzer(remove_stop_words=True).terms("The card of THE bank don’t") == ["card", "bank"]
    assert Analyzer(remove_stop_words=True).terms("to be or not to be") == []
    assert Analyzer("german", stem=False, remove_stop_words=True).terms("Die Größe des Hauses") == [
        "grösse",
        "hauses",
    ]


def test_stop_words_are_single_normalised_words() -> None:
    assert {"english", "german", "french", "spanish", "italian", "dutch", "portuguese", "swedish"} <= set(
        STOP_WORDS
    )
    for words in STOP_WORDS.values():
        for word in words:
            assert split_words(normalise(word)) == [word]


@pytest.mark.parametrize(
    ("parameters", "mentions"),
    [
        ({"language": "klingon"}, ["klingon", "english", "german"]),
        ({"language": "basque", "remove_stop_words": True}, ["basque", *STOP_WORDS]),
        ({"stem": "yes"}, ["stem", "yes"]),
        ({"language": None}, ["language"]),
        ({"tokenizer": "letters"}, ["letters", "pieces", "words", "whitespace"]),
    ],
)
def test_errors_name_the_valid_parameters(parameters: dict[str, Any], mentions: list[str]) -> None:
    with pytest.raises(UserError) as error:
        Analyzer(**parameters)
    for word in mentions:
        assert word in str(error.value)


def test_tokens_at_white_space_only() -> None:
    plain = Analyzer(stem=False, tokenizer="whitespace")
    assert plain.terms("The  new-york.com\tTRIP, 3.5% off!") == [
        "the",
        "new-york.com",
        "trip,",
        "3.5%",
        "off!",
    ]
    assert plain.lookup_terms(["TRIP, x"] * 100, Vocab.from_list(["trip", "trip,"]))[99].tolist() == [1, -1]
    assert plain.terms("x" * 300) == ["x" * 100]
    queries = Query.list_of(["A trip, x"], Vocab.from_list([]))
    assert queries[0].words(plain) == ["a", "trip,", "x"]
    assert lookup_query_terms(queries, plain, Vocab.from_list(["trip", "trip,"])).terms.tolist() == [
        -1,
        1,
        -1,
    ]


def test_n_grams_of_words() -> None:
    grams = Analyzer(stem=False, tokenizer="grams")
    assert " ".join(grams.terms("It’s  x-RAY")) == "_it its ts_ _its its_ _x_ _ra ray ay_ _ray ray_"
    found = grams.lookup_terms(["xray"] * 100, Vocab.from_list(["_xr", "ray"]))[99].tolist()
    assert found == [0, -1, 1, -1, -1, -1, -1]
    queries = Query.list_of(["tea"], Vocab.from_list([]))
    assert queries[0].words(grams) == ["_te", "tea", "ea_", "_tea", "tea_"]
    assert grams.terms("") == grams.terms("- ' …") == []


def test_a_word_with_an_empty_stem_is_kept() -> None:
    assert Analyzer("porter").terms("s") == ["s"]
    assert Analyzer("nepali").terms("ने") == ["ने"]


def test_every_language_stems() -> None:
    for language in LANGUAGES:
        assert len(Analyzer(language).terms("one two")) == 2


def terms_of(analyzer: Analyzer, texts: list[str]) -> list[list[str]]:
    """The terms of each text, from a batch."""
    index = VocabularyBuilder()
    tokens = analyzer.analyze(iter(texts), index)
    assert tokens.indptr.dtype == np.int64 and tokens.terms.dtype == np.int32
    assert len(tokens) == len(texts)
    return [[index.terms[term] for term in tokens[i]] for i in range(len(tokens))]


@settings(deadline=None)
@given(st.lists(ANYTHING | TYPED, max_size=12), st.booleans())
def test_batches_equal_single_texts(texts: list[str], stop_words: bool) -> None:
    analyzer = Analyzer(remove_stop_words=stop_words)
    assert terms_of(analyzer, texts) == [analyzer.terms(text) for text in texts]


@given(ANYTHING | TYPED)
@example("0\u0301")  # a mark after a digit is no word of its own
def test_words_are_normal_and_not_empty(text: str) -> None:
    for word in Analyzer().words(text):
        assert 0 < len(word) <= 100
        assert any(map(str.isalnum, word))
        assert " " not in word and "\n" not in word


def test_chunk_and_cache_sizes_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(7)
    vocabulary = [
        f"{'wörd' if i % 5 == 0 else 'item'}{chr(97 + i % 26)}{'s' if i % 3 else ''}-{i % 7}"
        for i in range(400)
    ]
    texts = [" ".join(random.choice(vocabulary, random.integers(0, 9))) for _ in range(500)]
    results = []
    for chunk, characters, cached in (
        (8192, 4_000_000, 64_000_000),
        (1, 4_000_000, 0),
        (7, 50, 100),
        (499, 10_000, 1000),
    ):
        monkeypatch.setattr(coclick.text.normalise, "_CHUNK_TEXTS", chunk)
        monkeypatch.setattr(coclick.text.normalise, "_CHUNK_CHARACTERS", characters)
        monkeypatch.setattr(coclick.text.analyzer, "_MAX_TABLE_BYTES", cached)
        index = VocabularyBuilder()
        tokens = Analyzer().analyze(texts, index)
        finished = index.finish()
        results.append(
            (
                tokens.indptr.tolist(),
                tokens.terms.tolist(),
                index.terms,
                finished.terms,
                finished.display_terms,
            )
        )
    assert all(result == results[0] for result in results)


def test_vocabulary_is_built_by_first_appearance_and_sorted_at_the_end() -> None:
    index, analyzer = VocabularyBuilder(), Analyzer()
    queries = analyzer.analyze(["zebra running", "run éclair"], index)
    titles = analyzer.analyze(["runs runs running box"], index)
    assert index.terms == ["zebra", "run", "éclair", "box"]
    assert queries.terms.tolist() == [0, 1, 1, 2]
    assert titles.terms.tolist() == [1, 1, 1, 3]
    finished = index.finish()
    assert finished.terms == ["box", "run", "zebra", "éclair"]  # é is two bytes above z
    assert finished.new_ids.tolist() == [2, 1, 3, 0]
    assert queries.renumbered(finished.new_ids).terms.tolist() == [2, 1, 1, 3]
    # run 1, running 2, runs 2: the shorter of the commonest.
    assert finished.display_terms == ["box", "runs", "zebra", "éclair"]


def test_ties_of_display_terms_are_broken_by_letter() -> None:
    index = VocabularyBuilder()
    Analyzer().analyze(["relates related"], index)
    finished = index.finish()
    assert (finished.terms, finished.display_terms) == (["relat"], ["related"])


@settings(deadline=None)
@given(st.lists(TYPED, max_size=30))
def test_surface_forms_are_counted_over_all_chunks(texts: list[str]) -> None:
    analyzer, index = Analyzer(), VocabularyBuilder()
    analyzer.analyze(texts[: len(texts) // 2], index)
    analyzer.analyze(texts[len(texts) // 2 :], index)
    finished = index.finish()
    counts: dict[str, Counter[str]] = {}
    for text in texts:
        for word, term in zip(analyzer.words(text), analyzer.terms(text), strict=True):
            counts.setdefault(term, Counter())[word] += 1
    assert finished.terms == sorted(counts, key=lambda term: term.encode())
    for term, surface in zip(finished.terms, finished.display_terms, strict=True):
        assert surface == min(counts[term], key=lambda word: (-counts[term][word], len(word), word))


@pytest.mark.parametrize("copies", [1, 100])
def test_lookup_in_a_saved_vocabulary(copies: int) -> None:
    terms = Vocab.from_list(["red", "shoe", "box"])
    tokens = Analyzer().lookup_terms(["Shoes red", "blue boxes", ""] * copies, terms)
    assert tokens.terms.tolist() == [2, 1, -1, 0] * copies
    assert np.diff(tokens.indptr).tolist() == [2, 2, 0] * copies


def test_empty_collections() -> None:
    index = VocabularyBuilder()
    tokens = Analyzer().analyze([], index)
    assert (len(tokens), tokens.terms.tolist(), index.finish().terms) == (0, [], [])
    tokens = Analyzer().analyze(["", "😀"], index)
    assert tokens.indptr.tolist() == [0, 0, 0]
    assert tokens.renumbered(index.finish().new_ids).terms.tolist() == []


def test_tokens_are_split_once_while_they_are_remembered(monkeypatch):
    asked = []
    split = Analyzer._split

    def counted(self, token):
        asked.append(token)
        return split(self, token)

    monkeypatch.setattr(Analyzer, "_split", counted)
    texts, analyzer = ["usb-c cable", "red cable", "usb-c"], Analyzer()
    expected = [analyzer.analyze(texts, VocabularyBuilder()).terms.tolist() for _ in range(2)]
    assert len(asked) == 6
    asked.clear()
    with remembered_tokens():
        found = [Analyzer().analyze(texts, VocabularyBuilder()).terms.tolist() for _ in range(2)]
    assert sorted(asked) == ["cable", "red", "usb-c"]
    assert found == expected
