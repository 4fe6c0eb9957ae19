"""schemathesis reads the OpenAPI document and tries to break what it promises."""

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from coclick.service.app import create_app
from coclick.service.loaded_models import Catalogue
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


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_request_breaks_what_the_document_says(models, mode):
    told = Settings(tuple((name, str(models / name)) for name in ("vpcg", "pls")))
    schema = schemathesis.openapi.from_asgi("/openapi.json", create_app(Catalogue(told.models), told))
    tried = set()
    for found in schema.get_all_operations():
        operation = found.ok()
        if mode == GenerationMode.NEGATIVE and not (operation.query or operation.body):
            continue  # nothing can be wrong with it

        @TRIALS
        @given(case=operation.as_strategy(generation_mode=mode))
        def trial(case):
            case.call_and_validate(checks=CHECKS)

        trial()
        tried.add(operation.label)
    assert {"GET /search", "POST /search", "POST /rank", "GET /explain", "POST /vectors"} <= tried
