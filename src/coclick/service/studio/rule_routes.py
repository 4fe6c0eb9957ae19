"""The review of rules with their evidence, and the request that records a decision. Needs `--review`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from coclick.rules.review import ReviewedRule, decide, load_review
from coclick.service.errors import JsonResponse
from coclick.service.executor import Executor

MAX_RULES = 50  # of a page

Kind = Literal["all", "synonym", "correction", "rewrite", "delete", "pin", "exclude"]
Decision = Literal["all", "open", "accept", "reject"]


class DecisionRequest(BaseModel):
    """What a person decides about a rule; the empty string takes a decision back."""

    model_config = ConfigDict(extra="forbid")
    id: Annotated[str, Field(max_length=64)]
    decision: Literal["accept", "reject", ""]


class Review:
    """A review file, read again when it changes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._cached: tuple[tuple[int, int], list[ReviewedRule]] | None = None  # with the version of the file

    def rules(self) -> list[ReviewedRule]:
        """Return all rules with their decisions."""
        try:
            stat = self.path.stat()
        except OSError:
            return load_review(self.path)  # which says what is wrong
        version = stat.st_mtime_ns, stat.st_ino
        if self._cached is None or self._cached[0] != version:
            self._cached = version, load_review(self.path)
        return self._cached[1]

    def page(self, kind: str, decision: str, start: int) -> dict[str, Any]:
        """Return a page of rules of one kind, and of one decision, and how many there are of each."""
        of_kind = [one for one in self.rules() if kind in ("all", one.rule.kind)]
        found = [one for one in of_kind if decision in ("all", one.decision or "open")]
        return {
            "file": self.path.name,
            "kind": kind,
            "decision": decision,
            "kinds": Counter(one.rule.kind for one in self.rules()),
            "decisions": Counter(one.decision or "open" for one in of_kind),
            "start": start,
            "found": len(found),
            "page_size": MAX_RULES,
            "rules": [
                {**one.rule.to_dict(), "decision": one.decision, "note": one.note}
                for one in found[start : start + MAX_RULES]
            ],
        }


def add(routes: APIRouter, executor: Executor, path: Path, may_write: Sequence[Any]) -> None:
    """Add the routes; `may_write` are the dependencies that check who sends a decision."""
    review = Review(path)

    @routes.get("/studio/rules.json")
    async def list_rules(
        kind: Kind = "all", decision: Decision = "open", start: Annotated[int, Query(ge=0)] = 0
    ) -> Response:
        return JsonResponse(await executor.run_in_thread(review.page, kind, decision, start))

    @routes.post("/studio/rules.json", dependencies=may_write)
    async def decide_rule(body: DecisionRequest) -> Response:
        decided = await executor.run_in_thread(decide, path, body.id, body.decision)
        return JsonResponse({"id": decided.rule.id, "decision": decided.decision})
