"""A log with planted words that `min_users`, `scrub` and `hash_users` must keep out, and a search for them.

Eighty users ask about hats, shoes and lamps. Among their events are a query, a spelling, a document and
rejected rows of one user only, and personal data in a common query.
"""

import csv
import gzip
import random
from pathlib import Path

import duckdb

K = 5
COLUMNS = ["timestamp", "user", "query", "doc", "action", "position"]
TOPICS = {
    "hat": ["warm", "straw", "winter"],
    "shoe": ["red", "running", "winter"],
    "lamp": ["desk", "red", "floor"],
}
# Compared in lower case, except for the spelling, which differs from its query by nothing else.
RARE_QUERY, UNCLICKED_QUERY, RARE_DOC = "xylozorb", "quibblenack", "doc-vexomund"
RARE_SPELLING, MAIL, CARD = "wArM hAt", "trundlewick@mail.example", "4111 1111 1111 1111"
RARE_USER, BOT = "user-pombrazil", "bot-clankmaster"
WORDS = [RARE_QUERY, UNCLICKED_QUERY, RARE_DOC, RARE_SPELLING, MAIL, "trundlewick", CARD, RARE_USER, BOT]


def events() -> list[dict[str, object]]:
    """The events of the log."""
    rng = random.Random(5)
    rows: list[dict[str, object]] = []

    def add(day: int, user: object, query: object, doc: object, action: str, position: int) -> None:
        time = f"2026-05-{1 + day:02} 10:{rng.randrange(30):02}:00"
        rows.append(dict(zip(COLUMNS, [time, user, query, doc, action, position], strict=True)))

    for user in range(80):
        for visit in range(4):
            topic = rng.choice(list(TOPICS))
            query = rng.choice([topic, *(f"{word} {topic}" for word in TOPICS[topic])])
            chosen = min(rng.randrange(4), rng.randrange(4))
            if visit == 0 and user % 2:
                query = query.title()
            elif visit == 3 and user % 2:
                query = f"{query} {MAIL}" if user % 4 == 1 else f"{query} {CARD}"
            for doc in range(4):
                add(visit, f"u{user}", query, f"{topic}-{doc}", "impression", doc + 1)
            add(visit, f"u{user}", query, f"{topic}-{chosen}", "click", chosen + 1)
    for query in (RARE_QUERY, RARE_SPELLING, f"{RARE_QUERY} hat"):
        add(5, RARE_USER, query, "hat-0", "impression", 1)
        add(5, RARE_USER, query, "hat-0", "click", 1)
    add(5, RARE_USER, "hat", RARE_DOC, "impression", 1)
    add(5, RARE_USER, "hat", RARE_DOC, "click", 1)
    rows.append(dict.fromkeys(COLUMNS) | {"timestamp": "2026-05-06 10:00:00", "user": RARE_USER})
    rows[-1] |= {"query": f"cheap {RARE_QUERY}", "action": "search"}
    for user in range(10):  # many searches, no clicks
        add(6, f"u{user}", UNCLICKED_QUERY, "hat-1", "impression", 1)
    click = {"user": BOT, "query": "hat", "doc": "hat-0", "action": "click", "position": 1}
    rows += [click | {"timestamp": f"2026-05-08 10:00:{i * 0.8:06.3f}"} for i in range(70)]
    bad = {"user": RARE_USER, "query": RARE_QUERY, "doc": RARE_DOC, "action": "click", "position": 1}
    rows += [bad | {"timestamp": None}, bad | {"timestamp": "2026-05-01 10:00:00", "position": -3}]
    rows += [bad | {"timestamp": "2026-05-01 10:00:00", "query": MAIL}]
    return rows


def docs() -> dict[str, str]:
    """The titles of the documents, without the rare one."""
    return {
        f"{topic}-{i}": f"{words[i % 3]} {topic} no {i}" for topic, words in TOPICS.items() for i in range(5)
    }


def write_csv(path: Path) -> Path:
    """Write the log as CSV, with lines that cannot be split or decoded."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(COLUMNS)
        out.writerows([["" if event[c] is None else event[c] for c in COLUMNS] for event in events()])
        stream.write(f'2026-05-01,{RARE_USER},"{RARE_QUERY},hat-1,click,1\n')
        stream.write(f"2026-05-01,{RARE_USER},{RARE_QUERY},hat-1,click,1,more\n")
    with path.open("ab") as binary:
        binary.write(f"2026-05-01,{RARE_USER},{RARE_QUERY}".encode() + b"\xff,hat-1,click,1\n")
    return path


def find(content: bytes, words: list[str] = WORDS) -> list[str]:
    """Return the words in some bytes, in any case; the spelling as it is."""
    lower = content.lower()
    return [
        word
        for word in words
        if (word.encode() in content if word == RARE_SPELLING else word.encode() in lower)
    ]


def find_in_files(place: Path, words: list[str] = WORDS) -> dict[str, list[str]]:
    """Return the words in the files below a directory, also in compressed ones."""
    found = {}
    for path in sorted(path for path in place.rglob("*") if path.is_file()):
        content = path.read_bytes() + str(path.relative_to(place)).encode()
        if content.startswith(b"PAR1"):
            rows = duckdb.execute("SELECT * FROM read_parquet($path)", {"path": str(path)}).fetchall()
            content += repr(rows).encode()
        elif content.startswith(b"\x1f\x8b"):
            content += gzip.decompress(path.read_bytes())
        if here := find(content, words):
            found[str(path.relative_to(place))] = here
    return found
