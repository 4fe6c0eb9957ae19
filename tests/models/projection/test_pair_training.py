"""Whole trainings of `lsa`, `cl_lsa`, `opca`, `s2net`, `ssi` and `svdfeature` against loops over dense rows.

From texts to scores, over several iterations with early stopping. Our random choices are recorded by a
`Sampler`, and the references train on them (`reference_training`); nothing else is shared with the package.
"""

import sys
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize

import coclick.solvers.siamese
from coclick import create
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from models import small_log
from models.projection.reference_training import (
    Floats,
    Pairs,
    Preference,
    RecordingSampler,
    ReferenceS2Net,
    ReferenceSSI,
    ReferenceSVDFeature,
    cosines,
    early_stop,
    in_order,
    leading_eigenvectors,
)

GRAPH = small_log.graph()
FIELDS = pytest.mark.parametrize("fields", ["title", "title+body"])
WEIGHTS: dict[str, Any] = {"log1p": np.log1p, "clicks": float, "one": lambda clicks: 1.0}


def train(monkeypatch: pytest.MonkeyPatch, name: str, parameters: str) -> tuple[Any, RecordingSampler]:
    """Our model, and the random choices of its training."""
    used: list[RecordingSampler] = []

    def create_sampler(seed: int) -> RecordingSampler:
        used.append(RecordingSampler(seed))
        return used[-1]

    model = create(f"{name}({parameters})")
    monkeypatch.setattr(sys.modules[type(model).__module__], "Sampler", create_sampler)
    model.fit(GRAPH)
    [sampler] = used
    return model, sampler


def all_scores(model: Any) -> Floats:
    queries, docs = list(GRAPH.queries), list(GRAPH.docs)
    return np.array(model.score(queries, [docs] * len(queries)), np.float64)


def known_pairs(queries: Floats, docs: Floats) -> list[tuple[int, int, float]]:
    """The clicked pairs with words on both sides."""
    return [(q, d, c) for q, d, c in small_log.pairs(GRAPH) if queries[q].any() and docs[d].any()]


def split(sampler: RecordingSampler, pairs: list[Any]) -> tuple[list[Any], list[Any]]:
    """The training pairs and the held-out pairs."""
    both = list(zip(pairs, sampler.held, strict=True))
    return [pair for pair, held in both if not held], [pair for pair, held in both if held]


def assert_unclicked(pairs: Pairs, negatives: list[list[int]], count: int) -> None:
    clicked = {(q, d) for q, d, _ in small_log.pairs(GRAPH)}
    for (query, _), others in zip(pairs, negatives, strict=True):
        assert len(others) == count
        assert all((query, other) not in clicked for other in others)


def assert_curve(model: Any, losses: list[float]) -> None:
    ours = [row["validation"] for row in model.stats_["curve"]]
    np.testing.assert_allclose(ours, losses, rtol=1e-3, atol=1e-5)


# -- eigenproblems -------------------------------------------------------------------------------------------


@FIELDS
@pytest.mark.parametrize("corpus", ["distinct", "pairs"])
@pytest.mark.parametrize("centre", [False, True])
def test_lsa(fields: str, corpus: str, centre: bool) -> None:
    """§4.1: eigenvectors of the second moment, or of the covariance, of queries and titles."""
    queries, docs = small_log.shared_features(GRAPH, fields.split("+"))
    texts = np.concatenate([queries, docs])
    if corpus == "pairs":
        texts = np.array([row for q, d, _ in small_log.pairs(GRAPH) for row in (queries[q], docs[d])])
    if centre:
        texts = texts - texts.mean(0)
    a = leading_eigenvectors(texts.T @ texts / len(texts), 4)
    given = f"dim=4,fields={fields},corpus={corpus},centre={str(centre).lower()}"
    model = create(f"lsa({given},{small_log.PLAIN_TEXT})").fit(GRAPH)
    np.testing.assert_allclose(all_scores(model), cosines(queries @ a, docs @ a), atol=1e-4)


@FIELDS
@pytest.mark.parametrize("weight", ["log1p", "one"])
@pytest.mark.parametrize("centre", [False, True])
def test_cl_lsa(fields: str, weight: str, centre: bool) -> None:
    """§5.3: the same for queries joined with their titles."""
    queries, docs = small_log.shared_features(GRAPH, fields.split("+"))
    rows = np.array([queries[q] + docs[d] for q, d, _ in small_log.pairs(GRAPH)])
    weights = np.array([WEIGHTS[weight](clicks) for _, _, clicks in small_log.pairs(GRAPH)])
    if centre:
        rows = rows - np.average(rows, axis=0, weights=weights)
    a = leading_eigenvectors((rows * weights[:, None]).T @ rows / weights.sum(), 4)
    given = f"dim=4,fields={fields},weight={weight},centre={str(centre).lower()}"
    model = create(f"cl_lsa({given},{small_log.PLAIN_TEXT})").fit(GRAPH)
    np.testing.assert_allclose(all_scores(model), cosines(queries @ a, docs @ a), atol=1e-4)


@FIELDS
@pytest.mark.parametrize("weight", ["log1p", "one"])
def test_opca(fields: str, weight: str) -> None:
    """Eq. 23–24: the generalised Rayleigh quotient, pair by pair, with a ridge on the noise."""
    queries, docs = small_log.shared_features(GRAPH, fields.split("+"))
    signal = noise = np.zeros((queries.shape[1],) * 2)
    total = 0.0
    for q, d, clicks in known_pairs(queries, docs):
        share = WEIGHTS[weight](clicks)
        signal = signal + share * (np.outer(queries[q], queries[q]) + np.outer(docs[d], docs[d])) / 2
        noise = noise + share * np.outer(queries[q] - docs[d], queries[q] - docs[d])
        total += share
    signal, noise = signal / total, noise / total
    noise += 0.3 * noise.diagonal().mean() * np.eye(len(noise))
    values, vectors = scipy.linalg.eigh(signal, noise)
    assert values[-4] - values[-5] > 1e-2
    a = vectors[:, -4:]
    model = create(f"opca(dim=4,ridge=0.3,fields={fields},weight={weight},{small_log.PLAIN_TEXT})").fit(GRAPH)
    np.testing.assert_allclose(model.stats_["eigenvalues"], values[::-1][:4], rtol=1e-5)
    np.testing.assert_allclose(all_scores(model), cosines(queries @ a, docs @ a), atol=1e-4)


# -- s2net ---------------------------------------------------------------------------------------------------


def s2net_examples(
    fields: str, sampler: RecordingSampler, dim: int, epsilon: float
) -> tuple[ReferenceS2Net, Pairs, list[Any], Floats]:
    """The features, the training pairs, the held-out comparisons, and the start."""
    queries, docs = small_log.shared_features(GRAPH, fields.split("+"))
    pairs = [(q, d) for q, d, _ in known_pairs(queries, docs)]
    training, held = split(sampler, pairs)
    assert len(held) == round(0.1 * len(pairs))
    assert_unclicked(held, sampler.negatives[0], 3)
    texts = np.concatenate([queries, docs])
    unseen = [(q, [d, *others]) for (q, d), others in zip(held, sampler.negatives[0], strict=True)]
    start = leading_eigenvectors(texts.T @ texts, dim)
    return ReferenceS2Net(queries, docs, 10, epsilon), training, unseen, start


@FIELDS
@pytest.mark.parametrize("dim, epsilon, l2", [(3, 0.1, 0.0), (17, 0.0, 0.0), (17, 0.0, 0.1)])
def test_s2net_by_lbfgs(
    monkeypatch: pytest.MonkeyPatch, fields: str, dim: int, epsilon: float, l2: float
) -> None:
    """§4.2: L-BFGS from the LSA matrix on fixed negatives.

    With ε = 0 it is the paper's loss; 17 dimensions because with few some embeddings would start at zero.
    """
    given = f"dim={dim},iterations=5,n_negatives=3,patience=2,epsilon={epsilon},l2_to_start={l2}"
    model, sampler = train(monkeypatch, "s2net", f"{given},fields={fields},{small_log.PLAIN_TEXT}")
    reference, training, unseen, start = s2net_examples(fields, sampler, dim, epsilon)
    assert_unclicked(training, sampler.negatives[1], 3)
    examples = [(q, [d, *others]) for (q, d), others in zip(training, sampler.negatives[1], strict=True)]

    def objective(flat: Floats) -> tuple[float, Floats]:
        projection = flat.reshape(start.shape)
        loss, gradient = reference.loss(projection, examples)
        moved = projection - start
        return loss + l2 / 2 * (moved**2).sum(), (gradient + l2 * moved).ravel()

    path: list[Floats] = []
    scipy.optimize.minimize(
        objective, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 5, "maxcor": 5},
        callback=lambda intermediate_result: path.append(intermediate_result.x.reshape(start.shape).copy()),
    )  # fmt: skip
    current = [start.copy()]
    steps = iter(path)

    def step() -> None:
        current[0][:] = next(steps)

    [best], curve = early_stop(step, lambda: reference.loss(current[0], unseen)[0], current, len(path), 2)
    assert_curve(model, curve)
    expected = cosines(reference.queries @ best, reference.docs @ best)
    assert np.abs(expected - cosines(reference.queries @ start, reference.docs @ start)).max() > 0.1
    np.testing.assert_allclose(all_scores(model), expected, atol=2e-3)


@FIELDS
@pytest.mark.parametrize("l2", [0.0, 0.02])
def test_s2net_by_adagrad(monkeypatch: pytest.MonkeyPatch, fields: str, l2: float) -> None:
    """Batches of seven pairs in recorded order; each batch moves the rows of its own words."""
    monkeypatch.setattr(coclick.solvers.siamese, "_BATCH_PAIRS", 7)
    given = (
        f"optimiser=adagrad,dim=3,iterations=4,n_negatives=3,patience=2,learning_rate=0.1,l2_to_start={l2}"
    )
    model, sampler = train(monkeypatch, "s2net", f"{given},fields={fields},{small_log.PLAIN_TEXT}")
    reference, training, unseen, start = s2net_examples(fields, sampler, 3, 0.1)
    projection, squares = start.copy(), np.zeros_like(start)
    draws, orders = iter(sampler.negatives[1:]), iter(sampler.orders)

    def step() -> None:
        negatives = next(draws)
        assert_unclicked(training, negatives, 3)
        examples = [(q, [d, *others]) for (q, d), others in zip(training, negatives, strict=True)]
        shuffled = list(in_order(examples, orders))
        for first in range(0, len(shuffled), 7):
            batch = shuffled[first : first + 7]
            words = np.zeros(len(projection), bool)
            for query, compared in batch:
                words |= reference.queries[query] != 0
                words |= (reference.docs[compared] != 0).any(0)
            gradient = reference.loss(projection, batch)[1] + l2 * (projection - start)
            squares[words] += gradient[words] ** 2
            projection[words] -= 0.1 * gradient[words] / np.sqrt(squares[words] + 1e-12)

    def validate() -> float:
        return reference.loss(projection, unseen)[0]

    [best], curve = early_stop(step, validate, [projection], 4, 2)
    assert_curve(model, curve)
    expected = cosines(reference.queries @ best, reference.docs @ best)
    np.testing.assert_allclose(all_scores(model), expected, atol=2e-3)


def test_s2net_splits_and_draws_as_in_the_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    """§5.3: exactly the share is held out, and negatives are titles of the pairs."""
    model, sampler = train(
        monkeypatch, "s2net", "dim=3,iterations=1,held_out=0.05,min_held_out=0,negative_docs=clicked"
    )
    assert sum(sampler.held) == model.stats_["held_out_pairs"] == round(0.05 * len(sampler.held))
    clicked = {d for _, d, _ in small_log.pairs(GRAPH)}
    drawn = {d for draw in sampler.negatives for others in draw for d in others}
    assert drawn <= clicked
    everywhere = train(monkeypatch, "s2net", "dim=3,iterations=1")[1]
    assert not {d for draw in everywhere.negatives for others in draw for d in others} <= clicked


# -- ssi -----------------------------------------------------------------------------------------------------


@FIELDS
@pytest.mark.parametrize("kind", ["both", "skips", "sampled"])
def test_ssi(monkeypatch: pytest.MonkeyPatch, fields: str, kind: str) -> None:
    """Skips come first, then the drawn documents of each pair; the order of steps is recorded."""
    given = f"pairs={kind},dim=4,iterations=6,n_negatives=2,patience=2,learning_rate=0.3"
    model, sampler = train(monkeypatch, "ssi", f"{given},fields={fields},{small_log.PLAIN_TEXT}")
    queries, docs = small_log.shared_features(GRAPH, fields.split("+"))
    pairs = [(q, d) for q, d, _ in known_pairs(queries, docs)]
    training, held = split(sampler, pairs)
    assert len(held) == round(0.1 * len(pairs))
    skips: list[Preference] = []
    assert GRAPH.skips is not None
    for query in range(len(GRAPH.queries)):
        for i in range(GRAPH.skips.indptr[query], GRAPH.skips.indptr[query + 1]):
            skips.append((query, int(GRAPH.skips.clicked[i]), int(GRAPH.skips.skipped[i])))

    def preferences(chosen: Pairs, negatives: list[list[int]]) -> list[Preference]:
        known = [skip for skip in skips if skip[:2] in chosen] if kind != "sampled" else []
        if kind == "skips":
            return known
        assert_unclicked(chosen, negatives, 2)
        return known + [
            (q, d, other) for (q, d), others in zip(chosen, negatives, strict=True) for other in others
        ]

    u, v = (values / np.sqrt(4) for values in sampler.normals)
    u[~queries[[q for q, _ in pairs]].any(axis=0)] = 0  # words of no query, and of no document
    v[~docs.any(axis=0)] = 0
    reference = ReferenceSSI(queries, docs, (u, v), 0.3)
    draws, orders = iter(sampler.negatives), iter(sampler.orders)
    unseen = preferences(held, next(draws))
    assert unseen

    def step() -> None:
        for preference in in_order(preferences(training, next(draws)), orders):
            reference.step(preference)

    def validate() -> float:
        return sum(reference.loss(preference) for preference in unseen) / len(unseen)

    (u, v), curve = early_stop(step, validate, [reference.u, reference.v], 6, 2)
    assert_curve(model, curve)
    for ours, theirs in ((model.query_map_, u), (model.doc_map_, v)):
        np.testing.assert_allclose(ours.blocks[0].matrix, theirs, rtol=1e-3, atol=1e-5)
    expected = np.maximum(queries @ (u @ v.T + np.eye(len(u))) @ docs.T, 0)
    assert np.abs(expected - np.maximum(queries @ docs.T, 0)).max() > 0.1
    np.testing.assert_allclose(all_scores(model), expected, rtol=1e-3, atol=1e-4)


# -- svdfeature ----------------------------------------------------------------------------------------------


def svdfeature_features(fields: str, views: str) -> tuple[Floats, Floats]:
    """Words with an idf for each side and, joined to them, ln(1 + clicks); all rows of unit length."""
    texts = small_log.query_texts(GRAPH), small_log.doc_texts(GRAPH, fields.split("+"))
    vocabulary = sorted({word for side in texts for words in side for word in words})
    x, z = (small_log.tf_idf(side, vocabulary, small_log.idf_of(side)) for side in texts)
    if views == "words":
        return x, z
    clicks = np.zeros((len(GRAPH.queries), len(GRAPH.docs)))
    for q, d, count in small_log.pairs(GRAPH):
        clicks[q, d] = np.log1p(count)
    sides = []
    for words, seen in ((x, clicks), (z, clicks.T)):
        unit = seen / np.maximum(np.linalg.norm(seen, axis=1, keepdims=True), 1e-30)
        joined = np.hstack([words, unit])
        sides.append(joined / np.maximum(np.linalg.norm(joined, axis=1, keepdims=True), 1e-30))
    return sides[0], sides[1]


@FIELDS
@pytest.mark.parametrize("views", ["words", "words+clicks"])
@pytest.mark.parametrize(
    "weight, scaled, count, rate",
    [("log1p", True, 2, 0.1), ("clicks", True, 2, 0.02), ("clicks", False, 0, 0.001), ("one", True, 1, 0.1)],
)
def test_svdfeature_with_squared_loss(
    monkeypatch: pytest.MonkeyPatch,
    fields: str,
    views: str,
    weight: str,
    scaled: bool,
    count: int,
    rate: float,
) -> None:
    given = f"weight={weight},scale_targets={str(scaled).lower()},n_negatives={count},learning_rate={rate}"
    other = f"dim=4,iterations=4,patience=2,l2=0.01,views={views},fields={fields},stem=false"
    model, sampler = train(
        monkeypatch, "svdfeature", f"{given},{other},remove_stop_words=false,tokenizer=whitespace"
    )
    x, z = svdfeature_features(fields, views)
    pairs = known_pairs(x, z)
    targets = np.array([WEIGHTS[weight](clicks) for _, _, clicks in pairs])
    targets = targets / targets.mean() if scaled else targets
    labelled = [(q, d, target) for (q, d, _), target in zip(pairs, targets.tolist(), strict=True)]
    training, held = split(sampler, labelled)
    assert len(held) == round(0.1 * len(pairs))
    mean = targets.mean() / (1 + count)
    start = 0.1 * sampler.normals[0], 0.1 * sampler.normals[1]
    reference = ReferenceSVDFeature(x, z, start, mean, rate, 0.01)
    draws, orders = iter(sampler.negatives), iter(sampler.orders)

    def cases(chosen: list[Any]) -> list[Any]:
        negatives = next(draws)
        assert_unclicked([(q, d) for q, d, _ in chosen], negatives, count)
        others = zip(chosen, negatives, strict=True)
        return chosen + [(q, doc, 0.0) for (q, _, _), drawn in others for doc in drawn]

    unseen = cases(held)

    def step() -> None:
        for case in in_order(cases(training), orders):
            reference.squared_step(*case)

    def validate() -> float:
        return sum(reference.squared_loss(*case) for case in in_order(unseen, orders)) / len(unseen)

    best, curve = early_stop(step, validate, reference.parameters, 4, 2)
    assert_curve(model, curve)
    p, r, query_bias, doc_bias = best
    expected = mean + (x @ query_bias)[:, None] + z @ doc_bias + (x @ p) @ (z @ r).T
    expected[:, ~z.any(1)] = 0  # a document without features is not scored
    np.testing.assert_allclose(all_scores(model), np.maximum(expected, 0), rtol=1e-3, atol=1e-4)


@FIELDS
def test_svdfeature_with_logistic_loss(monkeypatch: pytest.MonkeyPatch, fields: str) -> None:
    given = "loss=logistic,dim=4,iterations=4,patience=2,l2=0.01,n_negatives=2,learning_rate=0.2,views=words"
    model, sampler = train(monkeypatch, "svdfeature", f"{given},fields={fields},{small_log.PLAIN_TEXT}")
    x, z = svdfeature_features(fields, "words")
    pairs = [(q, d) for q, d, _ in known_pairs(x, z)]
    training, held = split(sampler, pairs)
    start = 0.1 * sampler.normals[0], 0.1 * sampler.normals[1]
    reference = ReferenceSVDFeature(x, z, start, 0, 0.2, 0.01)
    draws, orders = iter(sampler.negatives), iter(sampler.orders)

    def preferences(chosen: Pairs) -> list[Preference]:
        negatives = next(draws)
        assert_unclicked(chosen, negatives, 2)
        return [(q, d, other) for (q, d), others in zip(chosen, negatives, strict=True) for other in others]

    unseen = preferences(held)

    def step() -> None:
        for preference in in_order(preferences(training), orders):
            reference.logistic_step(preference)

    def validate() -> float:
        return sum(reference.logistic_loss(case) for case in in_order(unseen, orders)) / len(unseen)

    best, curve = early_stop(step, validate, reference.parameters, 4, 2)
    assert_curve(model, curve)
    p, r, _, doc_bias = best
    expected = z @ doc_bias + (x @ p) @ (z @ r).T
    np.testing.assert_allclose(all_scores(model), np.maximum(expected, 0), rtol=1e-3, atol=1e-4)


def test_svdfeature_cannot_rank_without_negatives() -> None:
    graph = ClickGraph.from_clicks([("a", "1", 1), ("b", "2", 1)], {"1": "alpha a", "2": "beta b"})
    with pytest.raises(UserError, match="n_negatives=0 leaves none"):
        create("svdfeature(loss=logistic,n_negatives=0)").fit(graph)
