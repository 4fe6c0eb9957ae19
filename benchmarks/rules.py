"""How many rules are right, by the words of the simulator: `python -m benchmarks.rules [SEED ...]`.

`python -m benchmarks.rules --speed QUERIES ...` prints the seconds that graphs of other sizes take.

A simulated log knows what each query means. A synonym is right if both sides are phrases for the same thing,
or if one phrase becomes the other by it ("hotels", "accommodation"). It is right in part if both sides are
parts of such phrases ("crock", "slow cooker"). A correction is right if it makes a mistyped query what was
meant. A rewrite is right as a synonym is, or if both queries have the same intent; a delete if most queries
of the world keep their intent without the words. Other rules are wrong.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import coclick
from benchmarks._saved_graphs import graph_of
from benchmarks._shapes import shaped_graph
from coclick.rules.rule import CLICKS, FOLLOW_UPS, Rule
from coclick.simulate.sample import sample
from coclick.simulate.world import World
from coclick.text.analyzer import Analyzer

QUERIES, DOCS = 3000, 5000
SEEDS = (0, 1, 2)
KINDS = ("synonym", "correction", "rewrite", "delete")
VERDICTS = ("right", "in part", "wrong")

Stems = tuple[str, ...]
_ANALYZER = Analyzer(tokenizer="words")


class Truth:
    """What the phrases of a simulated world mean, and what its mistyped queries should be."""

    def __init__(self, world: World) -> None:
        catalogue = world.catalogue
        terms = (*catalogue.subjects, *catalogue.aspects, *catalogue.qualifiers)
        self.terms = [{_stems(phrase) for phrase in (*term.query, *term.document)} for term in terms]
        texts = zip(world.queries.texts, world.queries.clean_texts, strict=True)
        self.mistyped = [(typed, meant) for typed, meant in texts if typed != meant]
        self.intents = dict(zip(world.queries.texts, world.queries.intent.tolist(), strict=True))

    def judge(self, rule: Rule) -> str:
        """Return the verdict about a rule."""
        if rule.kind == "correction" and self._corrects(rule.left, rule.right):
            return "right"
        if rule.kind == "delete":
            return "right" if self._superfluous(rule.left) else "wrong"
        if rule.kind == "rewrite" and self._same_intent(rule.left, rule.right):
            return "right"
        left, right = _stems(rule.left), _stems(rule.right)
        for term in self.terms:
            if left in term and right in term:
                return "right"
            if any(changed in term for phrase in term for changed in _replaced(phrase, left, right)):
                return "right"
        for term in self.terms:
            if any(_contains(phrase, left) for phrase in term) and any(
                _contains(phrase, right) for phrase in term
            ):
                return "in part"
        return "wrong"

    def _same_intent(self, left: str, right: str) -> bool:
        one, two = self.intents.get(left), self.intents.get(right)
        return one is not None and one == two

    def _superfluous(self, words: str) -> bool:
        """Whether most queries with the words mean the same without them."""
        shorter = {text: f" {text} ".replace(f" {words} ", " ").strip() for text in self.intents}
        both = [(text, rest) for text, rest in shorter.items() if rest != text and rest in self.intents]
        same = sum(self.intents[text] == self.intents[rest] for text, rest in both)
        return bool(both) and 2 * same > len(both)

    def _corrects(self, left: str, right: str) -> bool:
        if _letters(left) == _letters(right):
            return True  # other spaces or hyphens
        return any(
            f" {left} " in f" {typed} "
            and _letters(f" {typed} ".replace(f" {left} ", f" {right} ")) == _letters(meant)
            for typed, meant in self.mistyped
        )


def _stems(text: str) -> Stems:
    return tuple(_ANALYZER.terms(text))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _contains(phrase: Stems, part: Stems) -> bool:
    return any(phrase[i : i + len(part)] == part for i in range(len(phrase) - len(part) + 1))


def _replaced(phrase: Stems, left: Stems, right: Stems) -> list[Stems]:
    places = range(len(phrase) - len(left) + 1)
    return [phrase[:i] + right + phrase[i + len(left) :] for i in places if phrase[i : i + len(left)] == left]


def judge_sample(seed: int) -> Counter[tuple[str, str, str]]:
    """Simulate a log, find its rules, and count the verdicts by kind and evidence."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sample(folder / "log", QUERIES, DOCS, seed=seed)
        log = folder / "log"
        graph = coclick.build([log / "events.parquet"], log / "docs.tsv", folder / "graph")
        truth = Truth(World.make(QUERIES, DOCS, seed))
        verdicts: Counter[tuple[str, str, str]] = Counter()
        for rule in coclick.find_rules(graph, replay=False):
            if rule.kind in KINDS:
                verdict = truth.judge(rule)
                verdicts[rule.kind, rule.evidence, verdict] += 1
                if verdict == "wrong":
                    print(f"seed {seed}, wrong {rule.kind}: {rule.left} => {rule.right}", file=sys.stderr)
        return verdicts


def main(seeds: list[int]) -> None:
    """Print the verdicts of all seeds."""
    total: Counter[tuple[str, str, str]] = Counter()
    for seed in seeds:
        total += judge_sample(seed)
    print("| kind | from | rules | right | in part | wrong | precision |\n|---|---|---|---|---|---|---|")
    for kind, evidence in itertools.product(KINDS, (CLICKS, FOLLOW_UPS)):
        right, part, wrong = (total[kind, evidence, verdict] for verdict in VERDICTS)
        if found := right + part + wrong:
            precision = f"{right / found:.2f} right, {(right + part) / found:.2f} right or in part"
            print(f"| {kind} | {evidence} | {found} | {right} | {part} | {wrong} | {precision} |")


def measure_speed(sizes: list[int]) -> None:
    """Print the CPU seconds in which rules are found in graphs of pseudo-words, two pairs for each query."""
    for queries in sizes:
        graph = graph_of(shaped_graph(queries, queries, 2 * queries))
        began = time.process_time()
        found = coclick.find_rules(graph, replay=False)
        print(f"{queries:,} queries: {len(found):,} rules, {time.process_time() - began:.1f} s", flush=True)


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:] if argument != "--speed"]
    if "--speed" in sys.argv:
        measure_speed(numbers)
    else:
        main(numbers or list(SEEDS))
