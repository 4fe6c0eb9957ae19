"""Gao et al. 2011: topic models and projections learned from clicked titles, for documents without clicks."""

from __future__ import annotations

from reproduce.orders import Order
from reproduce.paper import TENTHS, Ablation, Cost, Examples, Grid, Mix, Paper, System, Table

_MEASURES = ("nDCG@10", "nDCG@1", "nDCG@3")


def _table(name: str, rows: dict[str, tuple[float, float, float]], *orders: str) -> Table:
    """A table whose columns are NDCG@1, @3 and @10."""
    values = {system: (at_10, at_1, at_3) for system, (at_1, at_3, at_10) in rows.items()}
    return Table(name, "web-new", _MEASURES, values, orders)


# lambda_doc is λ₂ of Eq. 16, the weight of the words of the title beside the model, used in ranking only.
_MODELS = {
    "PLSA": "plsa(preset=paper)",
    "BLTM": "bltm(preset=paper)",
    "BLTM-PR": "bltm_pr(preset=paper)",
    "BLTM-PR-1V": "bltm_pr_1v(preset=paper)",
    "WTM_M1": "wtm(preset=paper)",
}
_ALONE = "(λ₂=0)"
_TOPICS = {
    name + suffix: Grid(spec, "lambda_doc", values)
    for name, spec in _MODELS.items()
    for suffix, values in ((_ALONE, (0.0,)), ("", TENTHS))
}
_PROJECTIONS = {
    "LSA": "lsa(preset=paper)",
    "CL-LSA": "cl_lsa(preset=paper)",
    "OPCA": "opca(preset=paper)",
    "S2Net": "s2net(preset=paper)",
}


def _with_25_dimensions(order: str) -> dict[str, System]:
    """The projections of an order, alone or in mixes."""
    parts = {name.removesuffix("+VSM") for name in Order.parse(order).names}
    return {name: spec.replace(")", ",dim=25)") for name, spec in _PROJECTIONS.items() if name in parts}


def _more_topics(*names: str) -> dict[str, System]:
    return {name: Grid(_MODELS[name].replace(")", ",n_topics=300)"), "lambda_doc") for name in names}


PAPER = Paper(
    "gao2011",
    "Gao et al. 2011",
    "clickthrough-based latent semantic models",
    "The paper learns from 82,834,648 pairs. λ₂ and the weights of mixes are tuned, λ₁ is not.",
    "t",
    0.05,
    "two-fold",
    {
        "UM": "um(preset=gao2011)",
        **_TOPICS,
        "VSM": "vsm(preset=gao2011)",
        **_PROJECTIONS,
        **{f"{name}+VSM": Mix(name, "VSM", scaled=False) for name in _PROJECTIONS},
    },
    (
        _table(
            "Table 1",
            {
                "UM": (0.308, 0.373, 0.454),
                "PLSA(λ₂=0)": (0.295, 0.371, 0.456),
                "PLSA": (0.325, 0.391, 0.470),
                "BLTM(λ₂=0)": (0.330, 0.399, 0.476),
                "BLTM": (0.338, 0.404, 0.479),
                "BLTM-PR(λ₂=0)": (0.334, 0.403, 0.479),
                "BLTM-PR": (0.342, 0.406, 0.482),
                "BLTM-PR-1V(λ₂=0)": (0.337, 0.403, 0.480),
                "BLTM-PR-1V": (0.344, 0.407, 0.483),
                "WTM_M1(λ₂=0)": (0.332, 0.400, 0.478),
                "WTM_M1": (0.338, 0.404, 0.480),
            },
            "BLTM-PR-1V ≥ BLTM-PR > BLTM > PLSA > UM",
            "BLTM ≈ WTM_M1",
            "{BLTM-PR, BLTM-PR-1V} > WTM_M1",
            "BLTM-PR-1V(λ₂=0) ≥ BLTM-PR(λ₂=0) > BLTM(λ₂=0) > PLSA(λ₂=0)",
            "PLSA > {UM, PLSA(λ₂=0)}",
            "BLTM > BLTM(λ₂=0)",
            "BLTM-PR > BLTM-PR(λ₂=0)",
            "WTM_M1 > WTM_M1(λ₂=0)",
            "UM ≈ PLSA(λ₂=0)",
        ),
        Examples(
            "Figure 2",
            "web-new",
            "projection",
            ("BLTM-PR(λ₂=0)",),
            "with gradient ascent, the evaluations of a projection grow after 10 iterations of EM and fall "
            "after 16",
        ),
        Cost(
            "§5.2, training time",
            "web-new",
            {"BLTM(λ₂=0)": 108_000, "BLTM-PR(λ₂=0)": 216_000},
            ("BLTM(λ₂=0) > BLTM-PR(λ₂=0)",),
        ),
        _table(
            "Table 2",
            {
                "VSM": (0.313, 0.379, 0.460),
                "LSA": (0.298, 0.372, 0.455),
                "LSA+VSM": (0.330, 0.396, 0.474),
                "CL-LSA": (0.298, 0.370, 0.454),
                "CL-LSA+VSM": (0.330, 0.396, 0.474),
                "OPCA": (0.306, 0.373, 0.454),
                "OPCA+VSM": (0.328, 0.395, 0.473),
                "S2Net": (0.329, 0.401, 0.479),
                "S2Net+VSM": (0.340, 0.407, 0.483),
            },
            "S2Net > VSM > {OPCA, LSA, CL-LSA}",
            "LSA+VSM > {VSM, LSA}",
            "CL-LSA+VSM > {VSM, CL-LSA}",
            "OPCA+VSM > {VSM, OPCA}",
            "S2Net+VSM > {S2Net, LSA+VSM, CL-LSA+VSM, OPCA+VSM}",
            "LSA+VSM ≈ CL-LSA+VSM",
            "OPCA+VSM ≈ LSA+VSM",
            "CL-LSA ≈ LSA",
        ),
    ),
    (
        *(
            Ablation("Table 2", order, why, _with_25_dimensions(order))
            for order, why in (
                (
                    "S2Net > VSM > {OPCA, LSA, CL-LSA}",
                    "The vocabulary is small for 100 dimensions, so projections lose little: with "
                    "25 they should "
                    "fall below VSM.",
                ),
                (
                    "LSA+VSM ≈ CL-LSA+VSM",
                    "The same: with 25 dimensions neither should add much to VSM.",
                ),
                ("OPCA+VSM ≈ LSA+VSM", "The same: with 25 dimensions neither should add much to VSM."),
                ("CL-LSA ≈ LSA", "The same: with 25 dimensions both should lose most of their words."),
            )
        ),
        Ablation(
            "Table 1",
            "BLTM-PR-1V ≥ BLTM-PR > BLTM > PLSA > UM",
            "The difference of the first two is within the variation between random starts: another seed may "
            "reverse it.",
            {
                name: Grid(_MODELS[name].replace(")", ",seed=1)"), "lambda_doc")
                for name in ("BLTM-PR-1V", "BLTM-PR")
            },
        ),
        Ablation(
            "Table 1",
            "BLTM ≈ WTM_M1",
            "A hundred topics are few for the intents of this log: with 300, BLTM should come near to WTM.",
            _more_topics("BLTM"),
        ),
        Ablation(
            "Table 1",
            "{BLTM-PR, BLTM-PR-1V} > WTM_M1",
            "The same: with 300 topics both should come near to WTM.",
            _more_topics("BLTM-PR", "BLTM-PR-1V"),
        ),
        Ablation(
            "Table 1",
            "UM ≈ PLSA(λ₂=0)",
            "The same: with 300 topics PLSA should come near to UM.",
            {"PLSA(λ₂=0)": Grid("plsa(preset=paper,n_topics=300)", "lambda_doc", (0.0,))},
        ),
    ),
)
