"""Find models by name: built-in ones, those registered in this process, and those of installed packages.

Built-in models are in a table, so that listing them imports none and opening one imports no other family.
Other packages declare models as entry points of the group `coclick.models`; entry points are only read for a
name that is not built in, or to list all names.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, TypeVar

from coclick.errors import UserError
from coclick.models import spec as specs
from coclick.models.presets import PRESET, find_preset

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from coclick.models.base import Model

M = TypeVar("M", bound="type[Model]")

ENTRY_POINT_GROUP = "coclick.models"
_FAMILIES = {
    "click_graph": "clicks cos_clicks ctr logged neighbours popularity rw",
    "combination": "backoff mix",
    "lexical": "bm25 bm25sd cos_words um vsm wmd",
    "likelihood": "bltm wtm",
    "projection": "cl_lsa large_margin lsa lsi_dt lsi_qd mpls opca pls rmls s2net ssi svdfeature",
    "propagation": "vpcg",
}
_MODULES = {
    name: f"coclick.models.{family}.{name}" for family, names in _FAMILIES.items() for name in names.split()
} | {
    "bltm_pr": "coclick.models.likelihood.bltm",
    "bltm_pr_1v": "coclick.models.likelihood.bltm",
    "plsa": "coclick.models.likelihood.bltm",
    "bm25sd_mult": "coclick.models.lexical.bm25sd",
    "ltr": "coclick.ltr.model",
}
_registered: dict[str, type[Model]] = {}


def register(cls: M) -> M:
    """Make a model class reachable by its `name`. Use it as a decorator, above `@dataclass`.

    To be found in other processes too, for example when a saved model is opened, the class must be an entry
    point of the group `coclick.models` in an installed package.
    """
    name = getattr(cls, "name", None)
    if not isinstance(name, str) or not specs.NAME.fullmatch(name):
        raise UserError(
            f"{cls.__name__} cannot be registered: its name is {name!r}",
            hint='give the class a name of lower-case letters, digits and _: name = "my_model"',
        )
    if "__dataclass_fields__" not in cls.__dict__:
        raise UserError(
            f"{cls.__name__} cannot be registered: it is not a dataclass",
            hint="put @dataclass below @register",
        )
    _registered[name] = cls
    return cls


def model_names() -> list[str]:
    """Return the names of all models, sorted. None is imported for this."""
    return sorted({*_registered, *_MODULES, *_entry_points()})


def model_class(name: str) -> type[Model]:
    """Return the class of a model by its name; only its own module is imported."""
    if name not in _registered:
        if name in _MODULES:
            importlib.import_module(_MODULES[name])
        elif (entry := _entry_points().get(name)) is not None:
            _load(entry)
        else:
            known = model_names()
            raise UserError(
                f"no model is called {name!r}{specs.did_you_mean(name, known)}",
                hint=f"the models are {', '.join(known)}",
            )
    return _registered[name]


def create(spec: str, **parameters: Any) -> Model:
    """Create an untrained model from its specification.

    Parameters: `spec`, a name with parameters such as `"vpcg(start=doc)"`, or a sum of models such as
    `"0.8*rw + 0.2*bm25"`; `parameters`, more of them: `create("vpcg", start="doc")`. A preset stands for the
    parameters of a paper: `"vpcg(preset=paper)"`; those given beside it take precedence. Returns the model;
    call its `fit` with a graph.
    """
    if not isinstance(spec, str):
        cls = spec if isinstance(spec, type) else None
        name = getattr(cls, "name", "bm25")
        raise UserError(
            f"give a specification string or an untrained model, not {_describe(spec)}",
            hint=f'"{name}" or {cls.__name__}()' if cls else 'for example "bm25" or "vpcg(start=doc)"',
        )
    name, given = ("mix", {specs.SUM: spec}) if specs.is_sum(spec) else specs.parse(spec)
    if twice := sorted(given.keys() & parameters.keys()):
        raise UserError(f"the parameter {twice[0]!r} is given twice", where=spec)
    given |= {key: specs.as_text(value) for key, value in parameters.items()}
    cls = model_class(name)
    if (preset := given.pop(PRESET, None)) is not None:
        settled = find_preset(cls, preset, spec).parameters
        given = {key: specs.as_text(value) for key, value in settled.items()} | given
    model: Model = cls(**specs.convert(cls, given, spec))
    specs.check(model)
    return model


def _entry_points() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # takes as long as opening a model

    return {entry.name: entry for entry in entry_points(group=ENTRY_POINT_GROUP)}


def _load(entry: EntryPoint) -> None:
    """Import a model of another package, and register it if the package has not done so itself."""
    try:
        loaded = entry.load()
    except Exception as error:
        raise UserError(
            f"the model {entry.name!r} cannot be loaded: {type(error).__name__}: {error}",
            where=f"entry point {entry.value}",
        ) from error
    if isinstance(loaded, type) and entry.name not in _registered:
        register(loaded)
    if entry.name not in _registered:
        raise UserError(
            f"no model called {entry.name!r} was registered",
            where=f"entry point {entry.value}",
            hint="the entry point's name must be the class attribute `name` of the model",
        )


def _describe(value: object) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else repr(value)
