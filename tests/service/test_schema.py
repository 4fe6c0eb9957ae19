"""The declared responses: against schemathesis, the answers of the library, and docs/json.md."""

import json
import re
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from pydantic import TypeAdapter
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

import planted
from coclick import Suggestions, answers, open_model
from coclick.results import Explanation
from coclick.service import responses
from coclick.service.app import create_app
from coclick.service.loaded_models import LoadedModels
from coclick.service.settings import Settings

CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
)
TRIALS = settings(
    max_examples=25,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.slow
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_responses_conform_to_the_openapi_document(models, suggestions, mode):
    served = tuple((name, str(models / name)) for name in ("vpcg", "pls"))
    settings_ = Settings(served, suggestions=str(suggestions), allowed_hosts=("*",))
    schema = schemathesis.openapi.from_asgi(
        "/openapi.json", create_app(LoadedModels(settings_.models), settings_)
    )
    tried = set()
    for found in schema.get_all_operations():
        operation = found.ok()  # type: ignore[union-attr]
        if mode == GenerationMode.NEGATIVE and not (operation.query or operation.body):
            continue  # no invalid request exists

        @TRIALS
        @given(case=operation.as_strategy(generation_mode=mode))
        def trial(case):
            case.call_and_validate(checks=CHECKS)

        trial()
        tried.add(operation.label)
    assert {
        "GET /search",
        "POST /search",
        "POST /rank",
        "GET /explain",
        "POST /vectors",
        "GET /suggest",
        "GET /correct",
        "POST /suggest",
        "POST /correct",
    } <= tried


def has_declared_shape(kind, answer):
    """Whether an answer has the declared keys and types at every level, and no others."""
    adapter = TypeAdapter(kind)
    return adapter.dump_python(adapter.validate_python(answer), exclude_unset=True) == answer


@pytest.mark.parametrize("name", ["vpcg", "pls"])
def test_answers_have_the_declared_shape(models, name):
    model, query = open_model(models / name), next(iter(planted.TOPICS))
    doc = model.search(query, 1).hits()[0][0]
    for kind, answer in (
        (responses.SearchResponse, answers.search(model, [query])[0]),
        (responses.RankResponse, answers.rank(model, query, [doc, "unknown"])),
        (responses.SimilarQueriesResponse, answers.similar_queries(model, [query])[0]),
        (responses.SimilarDocumentsResponse, answers.similar_docs(model, [doc])[0]),
        (responses.ExpandResponse, answers.expand(model, query)),
        (responses.ExpandResponse, answers.expand_doc(model, doc)),
        (responses.VectorResponse, answers.query_vectors(model, [query])[0]),
        (responses.VectorResponse, answers.doc_vectors(model, [doc])[0]),
    ):
        assert has_declared_shape(kind, answer), kind


def test_suggestions_have_the_declared_shape(suggestions):
    opened, query = Suggestions.open(suggestions), next(iter(planted.TOPICS))
    for kind, answer in (
        (responses.SuggestResponse, answers.complete(opened, query[:2])),
        (responses.CorrectResponse, answers.correct(opened, query)),
        (responses.CorrectResponse, answers.correct(opened, query[:-1], 0)),
    ):
        assert has_declared_shape(kind, answer), kind


def documented_examples():
    """{section: examples} of docs/json.md, without the `…` that stand for more of the same."""
    page = Path(__file__).parents[2].joinpath("docs/json.md").read_text()
    for section in page.split("\n## ")[1:]:
        blocks = re.findall(r"(?:^    (?!\$).*\n)+", section, re.MULTILINE)
        yield section.split("\n")[0], [re.sub(r",\s*…", "", block) for block in blocks]


def test_documented_examples_have_the_declared_shape():
    kinds: dict[str, list[type]] = {
        "search": [responses.SearchResponse],
        "similar": [responses.SimilarQueriesResponse, responses.SimilarDocumentsResponse],
        "expand": [responses.ExpandResponse, responses.ExpandResponse],
        "vectors": [responses.VectorResponse],
        "rank": [responses.RankResponse],
        "explain": [Explanation],
        "suggest": [responses.SuggestResponse, responses.CorrectResponse],
    }
    examples = dict(documented_examples())
    for section, declared in kinds.items():
        for kind, example in zip(declared, examples[section], strict=section != "similar"):  # then files
            assert has_declared_shape(kind, json.loads(example)), section
