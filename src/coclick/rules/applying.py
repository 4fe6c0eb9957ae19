"""Apply rules to queries, as an engine does: which ones apply, and what is searched then."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from coclick.rules.rule import Rule


def phrases_in(words: Sequence[str], phrases: Collection[str]) -> Iterator[str]:
    """Yield the phrases that a text, given as its words, contains; each once."""
    seen = set()
    longest = max((phrase.count(" ") + 1 for phrase in phrases), default=0) if len(phrases) < 64 else 8
    for start in range(len(words)):
        for end in range(start + 1, min(start + longest, len(words)) + 1):
            phrase = " ".join(words[start:end])
            if phrase in phrases and phrase not in seen:
                seen.add(phrase)
                yield phrase


def apply(rule: Rule, words: Sequence[str]) -> str:
    """Return the text that is searched for a query, given as its words, under a rule that applies to it."""
    text = " ".join(words)
    if rule.kind == "delete":
        return f" {text} ".replace(f" {rule.left} ", " ").strip() or text
    if rule.kind == "correction":
        return f" {text} ".replace(f" {rule.left} ", f" {rule.right} ").strip()
    return f"{text} {rule.right}"
