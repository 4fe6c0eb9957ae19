"""Queries that fail: what people search and do not find, in clusters, each with a fix that would help.

    no_results      at least half of the searches found nothing
    never_clicked   results were shown, and nobody ever clicked one
    abandoned       most searches had results, no click and no next query
    reformulated    many searches went on, without a click, with a query that says the same in other words
    falling         the click rate falls over the weeks

Everything is counted from tables of the graph (`graph.search_tables`), so what `--min-users` keeps out of the
graph is not here either.
"""

from coclick.failing.find import find_failing
from coclick.failing.fixes import describe_fix
from coclick.failing.kinds import KINDS

__all__ = ["KINDS", "describe_fix", "find_failing"]
