"""Planted data: topics whose queries and documents are known, so that the right answer is known too.

Every topic has words of its own for queries and for titles and one word that both use. Two words
("the", "best") are everywhere. Some documents of each topic were never clicked.
"""

import random

from coclick.graph import ClickGraph

TOPICS = {
    "hotel": (["ny", "hotel", "cheap", "stay"], ["manhattan", "hotel", "lodging", "suites"]),
    "shoe": (["shoe", "trainers", "jogging", "nike"], ["running", "shoe", "footwear", "marathon"]),
    "pizza": (["pizza", "dough", "mozzarella", "napoli"], ["italian", "pizza", "recipe", "oven"]),
    "python": (["python", "pip", "traceback", "venv"], ["programming", "python", "interpreter", "errors"]),
    "flu": (["flu", "fever", "cough", "sick"], ["influenza", "flu", "symptoms", "medicine"]),
}


def clicks(seed: int = 0) -> list[tuple[str, str, float]]:
    """(query, document, clicks) rows: inside a topic, with a little noise across topics."""
    chance = random.Random(seed)
    rows = []
    for topic, (words, _) in TOPICS.items():
        for i, first in enumerate(words):
            for second in [None, *words[i + 1 :]]:
                query = first if second is None else f"{first} the {second}"
                for doc in chance.sample(range(6), 3):
                    rows.append((query, f"{topic}-{doc}", float(chance.randint(2, 30))))
    for topic in TOPICS:
        other = chance.choice([name for name in TOPICS if name != topic])
        rows.append((TOPICS[topic][0][0], f"{other}-0", 1.0))
    return rows


def docs() -> dict[str, str]:
    """Titles. Documents 0–5 of a topic may be clicked, 6 and 7 never are."""
    titles = {}
    for topic, (_, words) in TOPICS.items():
        for i in range(8):
            chosen = [
                words[1],
                words[(i + 2) % 4 if (i + 2) % 4 != 1 else 0],
                words[0] if i % 2 else words[3],
            ]
            titles[f"{topic}-{i}"] = f"The best {' '.join(chosen)} {i}"
    return titles


def graph(seed: int = 0) -> ClickGraph:
    """The planted click graph."""
    return ClickGraph.from_clicks(clicks(seed), docs())


def topic_of(doc: str) -> str:
    """The topic that a document belongs to."""
    return doc.rpartition("-")[0]
