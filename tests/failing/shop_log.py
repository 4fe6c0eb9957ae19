"""Hand-made logs of searches: each search says what was shown, clicked and searched next."""

import csv
from collections import Counter, defaultdict

from coclick.logs import build

DAY = 86_400_000_000
FIELDS = ["timestamp", "user", "session", "query", "doc", "action", "position", "results"]


class Log:
    """Rows of a log; every session is a user."""

    def __init__(self):
        self.rows, self.sessions = [], 0

    def session(self, *searches, day=0):
        """Add a session of searches: a text, (text, clicked document), or (text, None) for no results."""
        self.sessions += 1
        for place, search in enumerate(searches):
            query, clicked = search if isinstance(search, tuple) else (search, "")
            at = (20_000 + day) * DAY + (self.sessions % 5000) * 1000 + place * 1_000_000 * 60
            user = f"u{self.sessions}"
            self._add(at, user, query, "", "search", "", 0 if clicked is None else 2)
            if clicked is not None:
                for position, doc in enumerate(["other", clicked or "first"], 1):
                    self._add(at + 1, user, query, doc, "impression", position, "")
            if clicked:
                self._add(at + 2, user, query, clicked, "click", 2, "")

    def _add(self, at, user, query, doc, action, position, results):
        row = [at, user, f"s{self.sessions}", query, doc, action, position, results]
        self.rows.append(dict(zip(FIELDS, row, strict=True)))

    def build(self, place, docs=None, fields=tuple(FIELDS), **options):
        """Build a graph of the rows, with only some columns."""
        path = place / f"log{len(list(place.iterdir()))}.csv"
        rows = self.rows if "results" in fields else [row for row in self.rows if row["action"] != "search"]
        with path.open("w", newline="") as stream:
            out = csv.writer(stream)
            out.writerow(fields)
            out.writerows([[row[name] for name in fields] for row in rows])
        return build([path], docs, place / f"{path.stem}-graph", **options)


def recount(rows):
    """Count what happened after each query, one search at a time: {query: Counter}."""
    sessions = defaultdict(lambda: defaultdict(list))
    for row in rows:
        sessions[row["session"]][row["query"]].append(row)
    found = defaultdict(Counter)
    for pages in sessions.values():
        first = {query: min(row["timestamp"] for row in page) for query, page in pages.items()}
        order = sorted(pages, key=lambda query: (first[query], query))
        for query, following in zip(order, [*order[1:], None], strict=True):
            events = [row for row in pages[query] if row["action"] != "search"]
            clicked = any(row["action"] == "click" for row in events)
            found[query]["searches"] += 1
            found[query]["without_clicks"] += not clicked
            found[query]["without_results"] += not events
            if following is not None:
                found[query]["followed"] += 1
                found[query]["next", following] += 1
    return found
