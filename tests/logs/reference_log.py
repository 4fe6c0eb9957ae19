"""Reference implementation of event aggregation in plain Python, for comparison with the SQL."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from typing import Any

HALF_HOUR = 30 * 60 * 1_000_000
DAY = 24 * 60 * 60 * 1_000_000


def normal(query: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", query).casefold().split())


def aggregate(events: list[dict], weights: dict[str, float]) -> dict:
    """Aggregate events with timestamp (µs), user, query, doc, action and position into all tables."""
    used = [e for e in events if e["action"] == "impression" or e["action"] in weights]
    places = [e["position"] for e in used if e["position"] is not None]
    shift = 1 if places and min(places) == 0 else 0
    pages: dict[tuple, dict[str, list[dict]]] = defaultdict(lambda: defaultdict(list))
    session_clicks: Counter = Counter()
    sessions = set()
    by_user = defaultdict(list)
    for event in used:
        by_user[event["user"]].append(event)
    for user, theirs in by_user.items():
        theirs.sort(key=lambda event: event["timestamp"])
        number, before = 0, None
        for event in theirs:
            if before is not None and event["timestamp"] - before > HALF_HOUR:
                number += 1
            before = event["timestamp"]
            session = (user, number)
            sessions.add(session)
            session_clicks[session] += event["action"] == "click"
            pages[session, normal(event["query"])][event["doc"]].append(event)

    clicks: dict[Any, float] = defaultdict(float)
    pair_users = defaultdict(set)
    impressions, navigational, skips = Counter(), Counter(), Counter()
    daily: dict[Any, dict[str, Any]] = defaultdict(
        lambda: {"clicks": 0.0, "shown": 0, "navigational": 0, "users": set(), "at": Counter()}
    )
    for (session, query), shown in pages.items():
        place, clicked = {}, {}
        for doc, here in shown.items():
            day = min(e["timestamp"] for e in here) // DAY
            at = [e["position"] + shift for e in here if e["position"] is not None]
            place[doc] = min(at) if at else None
            clicked[doc] = [e for e in here if e["action"] in weights]
            alone = any(e["action"] == "click" for e in clicked[doc]) and session_clicks[session] == 1
            row = daily[query, doc, day]
            row["shown"] += 1
            row["navigational"] += alone
            impressions[query, doc] += 1
            navigational[query, doc] += alone
            if place[doc] is not None:
                row["at"][place[doc]] += 1
            for event in clicked[doc]:
                clicks[query, doc] += weights[event["action"]]
                row["clicks"] += weights[event["action"]]
                row["users"].add(session[0])
                pair_users[query, doc].add(session[0])
        for chosen in shown:
            for passed in shown:
                both_placed = place[chosen] is not None and place[passed] is not None
                if clicked[chosen] and not clicked[passed] and both_placed and place[passed] < place[chosen]:
                    skips[query, chosen, passed] += 1
    return {
        "clicks": dict(clicks),
        "impressions": dict(impressions),
        "users": {pair: len(those) for pair, those in pair_users.items()},
        "navigational": {pair: n for pair, n in navigational.items() if n},
        "skips": dict(skips),
        "sessions": len(sessions),
        "daily": {
            key: (row["clicks"], row["shown"], len(row["users"]), row["navigational"], dict(row["at"]))
            for key, row in daily.items()
        },
    }


def tables(graph) -> dict:
    """Return the tables of a graph in the format of `aggregate`."""
    queries, docs = list(graph.queries), list(graph.docs)
    pairs, daily = graph.pairs, graph.daily
    names = []
    for q, query in enumerate(queries):
        names += [(query, docs[d]) for d in pairs.docs[pairs.indptr[q] : pairs.indptr[q + 1]]]
    clicks = {}
    for q, query in enumerate(queries):
        indices, data = graph.clicks.row(q)
        clicks |= {(query, docs[d]): float(n) for d, n in zip(indices, data, strict=True)}
    found = {
        "clicks": clicks,
        "impressions": counts(names, pairs.impressions),
        "users": counts(names, pairs.users),
        "navigational": counts(names, pairs.navigational),
        "sessions": graph.stats["sessions"],
        "skips": {},
        "daily": {},
    }
    if pairs.impressions is not None:
        assert pairs.sessions.tolist() == pairs.impressions.tolist()
        assert daily.sessions.tolist() == daily.impressions.tolist()
    for place, name in enumerate(names):
        for row in range(daily.indptr[place], daily.indptr[place + 1]):
            span = slice(daily.position_indptr[row], daily.position_indptr[row + 1])
            found["daily"][(*name, int(daily.day[row]))] = (
                float(daily.clicks[row]),
                int(daily.impressions[row]),
                int(daily.users[row]),
                int(daily.navigational[row]),
                dict(zip(daily.position[span].tolist(), daily.shown[span].tolist(), strict=True)),
            )
    skips = graph.skips
    for q, query in enumerate(queries):
        for row in range(skips.indptr[q], skips.indptr[q + 1]):
            key = (query, docs[skips.clicked[row]], docs[skips.skipped[row]])
            found["skips"][key] = int(skips.count[row])
    return found


def counts(names: list, values) -> dict:
    return {name: int(value) for name, value in zip(names, values, strict=True) if value}
