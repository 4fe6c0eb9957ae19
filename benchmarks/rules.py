"""How many rules are right, by the words of the simulator: `python -m benchmarks.rules [SEED ...]`.

A simulated log knows what each query means. A synonym is right if both sides are phrases for the same thing,
or if one phrase becomes the other by it ("hotels", "accommodation"). It is right in part if both sides are
parts of such phrases ("crock", "slow cooker"). A correction is right if it makes a mistyped query what was
meant. Other rules are wrong.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

import coclick
from coclick.rules.rule import Rule
from coclick.simulate.sample import sample
from coclick.simulate.world import World
from coclick.text.analyzer import Analyzer

QUERIES, DOCS = 3000, 5000
SEEDS = (0, 1, 2)
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

    def judge(self, rule: Rule) -> str:
        """Return the verdict about a rule."""
        if rule.kind == "correction" and self._corrects(rule.left, rule.right):
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


def judge_sample(seed: int) -> Counter[tuple[str, str]]:
    """Simulate a log, find its rules, and count the verdicts by kind."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sample(folder / "log", QUERIES, DOCS, seed=seed)
        log = folder / "log"
        graph = coclick.build([log / "events.parquet"], log / "docs.tsv", folder / "graph")
        truth = Truth(World.make(QUERIES, DOCS, seed))
        verdicts: Counter[tuple[str, str]] = Counter()
        for rule in coclick.find_rules(graph, replay=False):
            if rule.kind in ("synonym", "correction"):
                verdict = truth.judge(rule)
                verdicts[rule.kind, verdict] += 1
                if verdict == "wrong":
                    print(f"seed {seed}, wrong {rule.kind}: {rule.left} => {rule.right}", file=sys.stderr)
        return verdicts


def main(seeds: list[int]) -> None:
    """Print the verdicts of all seeds."""
    total: Counter[tuple[str, str]] = Counter()
    for seed in seeds:
        total += judge_sample(seed)
    print("| kind | rules | right | in part | wrong | precision |\n|---|---|---|---|---|---|")
    for kind in ("synonym", "correction"):
        right, part, wrong = (total[kind, verdict] for verdict in VERDICTS)
        found = max(right + part + wrong, 1)
        precision = f"{right / found:.2f} right, {(right + part) / found:.2f} right or in part"
        print(f"| {kind} | {right + part + wrong} | {right} | {part} | {wrong} | {precision} |")


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]] or list(SEEDS))
