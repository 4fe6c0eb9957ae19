"""Presets: the parameters of a model as a paper sets them, under one name.

A model class declares them in its attribute `presets`, and a specification uses them by name:

    presets = {"paper": Preset("Jiang et al. 2016", max_terms=(20, "§4.2: K = 20"))}

    create("vpcg(preset=paper,max_terms=50)")        # parameters given beside a preset take precedence

A preset is expanded when a model is created, so a trained model does not depend on it. It names every
parameter that the paper settles, even where our default is the same: defaults may change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coclick.errors import UserError
from coclick.models.spec import did_you_mean

if TYPE_CHECKING:
    from coclick.models.base import Model

PRESET = "preset"  # how a specification names a preset


class Preset:
    """The parameters that a paper settles, each with the place in the paper or the reason.

    Parameters: `source`, author and year as in docs/references.md; then for each parameter its value and the
    reason, as a pair.
    """

    def __init__(self, source: str, /, **values: tuple[Any, str]) -> None:
        self.source = source
        self.parameters = {name: value for name, (value, _) in values.items()}
        self.reasons = {name: reason for name, (_, reason) in values.items()}

    def __repr__(self) -> str:
        return f"<preset of {self.source}: {', '.join(self.parameters)}>"


def find_preset(cls: type[Model], name: str, where: str) -> Preset:
    """Return a preset of a model by its name; raise if the model has no such preset."""
    if name not in cls.presets:
        known = sorted(cls.presets)
        raise UserError(
            f"{cls.name} has no preset {name!r}{did_you_mean(name, known)}",
            where=where,
            hint=f"its presets are {', '.join(known)}" if known else "it has no presets: give its parameters",
        )
    return cls.presets[name]
