"""A faster import of FastAPI."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


def import_fastapi() -> None:
    """Import FastAPI, and let pydantic build the validators of FastAPI's own models on first use.

    37 of them are for the OpenAPI document, which is rarely requested, and building them takes longer than
    opening a model of a million documents. FastAPI has no setting for this.
    """
    default = BaseModel.model_config
    BaseModel.model_config = ConfigDict(defer_build=True)
    try:
        import fastapi  # noqa: F401
    finally:
        BaseModel.model_config = default
