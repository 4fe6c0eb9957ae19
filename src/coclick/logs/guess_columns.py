"""Guess which columns of a table hold which field, from their names in several languages and their values.

Only `check` guesses, and shows the guess as `--columns`, for a person to read. `build` never does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from coclick.graph.columns import canonical_name, match_columns
from coclick.logs.column_use import looks_like

# Parts of names, by field, in the order in which fields are assigned.
_PARTS = {
    "timestamp": (
        *("time", "zeit", "datum", "date", "fecha", "heure", "data", "hora"),
        *("когда", "дата", "время", "日時"),
        *("日付", "时间", "日期", "تاريخ", "tarih", "zaman", "tijd", "czas"),
    ),
    "query": (
        *("query", "such", "search", "keyword", "begriff", "recherche", "requete", "requête", "busqueda"),
        *("búsqueda", "consulta", "pesquisa", "buscar", "ricerca", "zoek", "sök", "søk", "szuk", "arama"),
        *("запрос", "検索", "搜索", "查询", "검색", "بحث", "term"),
    ),
    "session": ("session", "sitzung", "visit_", "besuchs", "sesión", "sessão", "сесси", "セッション"),
    "user": (
        *("user", "kunde", "customer", "client", "visitor", "besucher", "usuario", "usuário", "utilisateur"),
        *("utente", "gebruiker", "kullanıcı", "cookie", "nutzer"),
        *("пользователь", "клиент", "ユーザー", "用户"),
        *("مستخدم", "عميل"),
    ),
    "doc": (
        *("doc", "artikel", "produkt", "product", "item", "sku", "article", "articulo", "artículo", "artigo"),
        *("produto", "prodotto", "produit", "ürün", "treffer", "asin", "товар", "商品", "منتج", "url", "id"),
    ),
    "action": ("action", "aktion", "event", "typ", "acción", "accion"),
    "position": ("position", "rank", "rang", "platz", "posicion", "posición", "позиция", "順位"),
    "clicks": ("click", "klick", "clic", "anzahl", "count", "cuenta", "nombre", "клик", "クリック"),
}
_NOT_IDS = re.compile("agent|type|version|name|country|lang|count|group|segment|age|gender")  # of a user
_ID_KINDS = ("an id", "a URL", "a number", "text")  # the likeliest first
_KINDS = {  # what the values of a field look like
    "timestamp": ("a time",),
    "session": ("an id", "a number"),
    "user": ("an id", "a number", "an e-mail address"),
    "query": ("text", "an id"),
    "doc": _ID_KINDS,
    "position": ("a number",),
    "clicks": ("a number",),
}
_NEEDED = ("query", "doc")
_MAX_NAME = 30  # characters of the name of a column; texts are longer
_OPTIONAL = ("timestamp", "session", "user", "position")  # guessed if the others have known names


def guess_columns(values: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the column of each field, given sample values by column; empty without query or document."""
    names = list(values)
    found = _guess_by_name(values, {field: names[index] for field, index in match_columns(names).items()})
    return found if all(field in found for field in _NEEDED) else {}


def guess_more(values: Mapping[str, Sequence[str]], known: Mapping[str, str]) -> dict[str, str]:
    """Return columns of further fields of an event log whose query and document are known."""
    flag = known.get("clicked")
    if flag is not None and is_count(values.get(flag, ())):
        return {"clicks": flag}
    found = _guess_by_name(values, dict(known))
    return {field: found[field] for field in _OPTIONAL if field in found and field not in known}


def is_count(cells: Sequence[str]) -> bool:
    """Return whether all cells are whole numbers, and some are above 1: no flag of what was clicked."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    return all(cell.isdecimal() and len(cell) < 10 for cell in filled) and any(
        int(cell) > 1 for cell in filled
    )


def guess_places(rows: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the fields of columns in order, `_` for none, by their values; empty without query or doc."""
    found = _guess_by_value(rows, {})
    if not all(field in found for field in _NEEDED):
        return []
    fields = {name: field for field, name in found.items()}
    return [fields.get(name, "_") for name in rows]


def has_known_words(names: Sequence[str]) -> bool:
    """Return whether two or more cells of a line look like names of columns."""
    parts = (part for parts in _PARTS.values() for part in parts)
    words = [part for part in parts if len(part) > 2 or not part.isascii()]
    named = [canonical_name(name) for name in names]
    return sum(len(name) < _MAX_NAME and any(word in name for word in words) for name in named) > 1


def _guess_by_name(values: Mapping[str, Sequence[str]], found: dict[str, str]) -> dict[str, str]:
    kinds = {name: looks_like(cells) for name, cells in values.items()}
    for field, parts in _PARTS.items():
        if field in found:
            continue
        fitting = [
            name
            for name in values
            if name not in found.values()
            and kinds[name] in _KINDS.get(field, (kinds[name],))
            and kinds[name] != "empty"
            and not (field == "user" and _NOT_IDS.search(canonical_name(name)))
            and not (field in _NEEDED and _is_of_a_person(name))
        ]
        named = [name for part in parts for name in fitting if part in canonical_name(name)]
        if named:
            found[field] = named[0]
    return _guess_by_value(values, found)


def _is_of_a_person(name: str) -> bool:
    """Whether the name of a column is that of a user or session, which may contain other words: besucher."""
    parts = (*_PARTS["user"], *_PARTS["session"])
    return any(part in canonical_name(name) for part in parts)


def _guess_by_value(values: Mapping[str, Sequence[str]], found: dict[str, str]) -> dict[str, str]:
    """Add the query, the document and the time, if the values of one column are the likeliest."""
    kinds = {name: looks_like(cells) for name, cells in values.items()}
    free = [name for name in values if name not in found.values()]
    texts = [name for name in free if kinds[name] == "text"]
    if "query" not in found and texts:
        found["query"] = texts[0]
    times = [name for name in free if kinds[name] == "a time"]
    if "timestamp" not in found and len(times) == 1:
        found["timestamp"] = times[0]
    if "doc" not in found:
        taken = found.values()
        ids = [name for name in free if kinds[name] in _KINDS["doc"] and name not in taken]
        likely = {kind: -rank for rank, kind in enumerate(_ID_KINDS)}
        if ids:
            found["doc"] = max(ids, key=lambda name: (len(set(values[name])), likely[kinds[name]]))
    return found
