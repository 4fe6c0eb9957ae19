"""Languages: names, rules of words, stems and stop words, in small shops that were made by hand."""

from __future__ import annotations

import pytest

from coclick import ClickGraph, create
from coclick.errors import UserError
from coclick.text.analyzer import Analyzer
from coclick.text.languages import LANGUAGES, find_language, named_language, resolve_language
from coclick.text.normalise import normalise
from coclick.text.query import Query, lookup_query_terms
from coclick.text.stopwords import STOP_WORDS
from coclick.text.term_matrix import TermMatrix
from text.shops import SHOPS

# Forms of one word: a search for the first must find the second.
SAME_WORD = {
    "de": [("jacken", "jacke"), ("stühle", "stuhl"), ("schwarzes", "schwarze"), ("größe", "größen")],
    "fr": [("chaises", "chaise"), ("l'eau", "eau"), ("d’huile", "huiles"), ("noires", "noire")],
    "es": [("zapatos", "zapato"), ("negras", "negro"), ("inalámbricos", "inalámbrica")],
    "pt": [("cadeiras", "cadeira"), ("brinquedos", "brinquedo"), ("pretas", "preto")],
    "it": [("scarpe", "scarpa"), ("dell'acqua", "acqua"), ("bianche", "bianco")],
    "ru": [("чёрные", "черный"), ("платья", "платье"), ("игрушки", "игрушка"), ("столом", "столы")],
    "ar": [("الحقيبة", "حقيبة"), ("أحذية", "احذية"), ("كتـــاب", "كتاب"), ("كِتَاب", "كتاب"), ("١٣", "13")],
    "tr": [("İpek", "ipek"), ("kitaplar", "kitap")],
    "ro": [("şosete", "șosete")],
    "fa": [("كيف", "کیف")],
}
OTHER_WORD = {"de": [("tasche", "tisch")], "fr": [("chaise", "chaud")], "ru": [("стол", "стул")]}


@pytest.mark.parametrize("code", SAME_WORD)
def test_forms_of_a_word_are_one_term(code: str) -> None:
    analyzer = Analyzer(code)
    for one, other in SAME_WORD[code]:
        assert analyzer.terms(one) == analyzer.terms(other), (one, other)
        assert len(analyzer.terms(one)) == 1
    for one, other in OTHER_WORD.get(code, []):
        assert analyzer.terms(one) != analyzer.terms(other)


@pytest.mark.parametrize(
    ("code", "text", "words"),
    [
        # A Thai letter keeps its vowel signs and tone marks; Latin words and numbers stay whole.
        ("th", "ตู้เย็น LG 5.5", ["ตู้เ", "เย็", "ย็น", "lg", "5.5"]),
        ("th", "iPhone13เคส", ["iphone13", "เค", "คส"]),
        ("th", "ก", ["ก"]),
        ("lo", "ເບຍ", ["ເບ", "ບຍ"]),
        (
            "ja",
            "折りたたみ傘 USB-C ケーブル",
            ["折り", "りた", "たた", "たみ", "み傘", "usb-c", "ケー", "ーブ", "ブル"],
        ),
        ("ja", "Ａｎｋｅｒ ﾓﾊﾞｲﾙ", ["anker", "モバ", "バイ", "イル"]),
        ("zh", "苹果iPhone手机", ["苹果", "iphone", "手机"]),
        ("fr", "L'Oréal aujourd'hui l'huile", ["oréal", "aujourd'hui", "huile"]),
        ("it", "dell'olio d'oliva", ["olio", "oliva"]),
        # Without a language, as before there was one.
        ("english", "l'eau ตู้เย็น ёлка", ["l'eau", "ตู้เย็น", "ёлка"]),
    ],
)
def test_words_by_hand(code: str, text: str, words: list[str]) -> None:
    analyzer = Analyzer(code, stem=False, tokenizer="words")
    assert analyzer.words(text) == words
    query = Query(normalise(text), -1)
    terms = TermMatrix.fit(iter([text]), analyzer).terms
    assert (lookup_query_terms([query], analyzer, terms).terms >= 0).all()
    assert len(analyzer.lookup_terms([text] * 100, terms).terms) == 100 * len(words)


@pytest.mark.parametrize("code", [code for code, shop in SHOPS.items() if shop.finds])
def test_search_finds_in_every_language(code: str) -> None:
    shop = SHOPS[code]
    docs = {str(i): title for i, title in enumerate(shop.titles)}
    graph = ClickGraph.from_clicks([(shop.queries[0], "0", 1)], docs, language=code)
    model = create("bm25").fit(graph)
    for query, title in shop.finds.items():
        best = model.search(query, 1).hits()
        assert best and docs[best[0][0]] == title, query


def test_stop_words_of_the_language() -> None:
    by_hand = {
        "de": ("Kaffee mit der Milch", ["kaffe", "milch"]),
        "fr": ("café avec du lait", ["caf", "lait"]),
        "es": ("café con la leche", ["caf", "lech"]),
        "pt": ("café com o leite", ["caf", "leit"]),
        "ru": ("чай для него и с молоком", ["ча", "молок"]),
        "ar": ("قهوة مع حليب", ["قهو", "حليب"]),
    }
    for code, (text, terms) in by_hand.items():
        assert Analyzer(code, remove_stop_words=True).terms(text) == terms


def test_stop_words_are_written_as_they_are_compared() -> None:
    for name, words in STOP_WORDS.items():
        if name not in ("french", "italian"):  # articles are left out before stop words are looked up
            for word in words:
                assert Analyzer(name, stem=False).words(word) == [word]


def test_a_language_without_spaces_has_no_stop_words() -> None:
    assert Analyzer("ja", remove_stop_words=True).words("私の本") == ["私の", "の本"]


def test_languages_by_code_name_and_region() -> None:
    for name in ("de", "DE", "german", "German", "de-AT", "de_CH"):
        assert find_language(name).name == "german"
    assert find_language("nb").name == "norwegian"
    assert find_language("zh-Hans").code == "zh"
    assert all(find_language(name).name == name for name in LANGUAGES)
    assert Analyzer("de") == Analyzer("german")


@pytest.mark.parametrize(("wrong", "near"), [("germn", "german"), ("jp", "ja japanese"), ("", "english")])
def test_an_unknown_language_names_the_known_ones(wrong: str, near: str) -> None:
    with pytest.raises(UserError, match="there is no language") as error:
        find_language(wrong)
    assert near in str(error.value)


def test_auto_is_the_language_of_the_graph() -> None:
    assert resolve_language("auto", {"language": named_language("fr")}) == "french"
    assert resolve_language("german", {"language": named_language("fr")}) == "german"
    assert resolve_language("auto", {}) == "english"
    assert (
        resolve_language("auto", {"language": {"code": None, "share": 0.3, "source": "guessed"}}) == "english"
    )
    with pytest.raises(UserError, match="klingon"):
        resolve_language("auto", {"language": {"code": "klingon"}})
