"""Guess which columns of a table hold which field, from their names in several languages and their values.

Only `check` guesses, and shows the guess as `--columns`, for a person to read. `build` never does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coclick.graph.columns import canonical_name, match_columns
from coclick.logs.column_use import looks_like

# Parts of names, by field, in the order in which fields are assigned.
_PARTS = {
    "timestamp": ("time", "zeit", "datum", "date", "fecha", "heure", "data", "hora", "когда", "дата", "日時"),
    "query": (
        *("query", "such", "search", "keyword", "begriff", "recherche", "requete", "requête", "busqueda"),
        *("búsqueda", "consulta", "pesquisa", "buscar", "zoek", "запрос", "検索", "term"),
    ),
    "doc": (
        *("doc", "artikel", "produkt", "product", "item", "sku", "article", "articulo", "artículo", "artigo"),
        *("asin", "товар", "商品", "url", "id"),
    ),
    "session": ("session", "sitzung", "visit", "besuch"),
    "user": ("user", "kunde", "client", "visitor", "besucher", "usuario", "utilisateur", "cookie", "nutzer"),
    "action": ("action", "aktion", "event", "typ", "acción", "accion"),
    "position": ("position", "rank", "rang", "platz", "posicion", "posición"),
    "clicks": ("click", "klick", "clic", "anzahl", "count", "cuenta", "nombre"),
}
_KINDS = {  # what the values of a field look like
    "timestamp": ("a time",),
    "query": ("text", "an id"),
    "doc": ("an id", "a number", "a URL", "text"),
    "position": ("a number",),
    "clicks": ("a number",),
}
_NEEDED = ("query", "doc")


def guess_columns(values: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the column of each field, given sample values by column; empty without query or document."""
    kinds = {name: looks_like(cells) for name, cells in values.items()}
    names = list(values)
    found = {field: names[index] for field, index in match_columns(names).items()}
    for field, parts in _PARTS.items():
        if field in found:
            continue
        fitting = [
            name
            for name in names
            if name not in found.values()
            and kinds[name] in _KINDS.get(field, (kinds[name],))
            and kinds[name] != "empty"
        ]
        named = [name for part in parts for name in fitting if part in canonical_name(name)]
        if named:
            found[field] = named[0]
    if "query" not in found:
        texts = [name for name in names if kinds[name] == "text" and name not in found.values()]
        found |= {"query": texts[0]} if texts else {}
    if "doc" not in found:
        ids = [name for name in names if kinds[name] in _KINDS["doc"] and name not in found.values()]
        found |= {"doc": max(ids, key=lambda name: len(set(values[name])))} if ids else {}
    return found if all(field in found for field in _NEEDED) else {}
