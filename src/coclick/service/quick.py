"""FastAPI, imported sooner than it would be."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


def import_fastapi() -> None:
    """Import it, and let pydantic make the validators of FastAPI's own models on first use.

    There are 37 for its OpenAPI document, which a service is rarely asked for, and to make them takes longer
    than to open a model of a million documents. FastAPI has no setting for this.
    """
    usual = BaseModel.model_config
    BaseModel.model_config = ConfigDict(defer_build=True)
    try:
        import fastapi  # noqa: F401
    finally:
        BaseModel.model_config = usual
