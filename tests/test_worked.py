"""Worked numbers: eight rows of three columns, float64, ten digits."""

from __future__ import annotations

import numpy as np
import pytest
from data import BINARY, EIGHT, THREE, TWO, train

from bigclf.algorithms import registry
from bigclf.core import Shape
from bigclf.units import code_matrix, decode


def weights(name, rows=8, **params):
    return train(registry.build(name, **params), EIGHT[:rows], TWO[:rows]).w[0]


@pytest.mark.parametrize(
    ("name", "params", "want"),
    [
        ("ls", {}, (-2.4722156494, 3.6501765703, 0.8855709482)),
        ("rls", {}, (-2.4722156494, 3.6501765703, 0.8855709482)),
        ("rls", {"rows": 4}, (-0.7384601481, 2.2546644167, -0.9712328747)),
        ("ter", {}, (-2.5412618735, 3.7984987203, 0.9421138342)),
        ("nr-rls", {}, (-2.5412618735, 3.7984987203, 0.9421138342)),
        ("nr-rls", {"rows": 1}, (-0.5494203615, -0.0549420362, -0.4944783254)),
        ("nr-rls", {"rows": 4}, (-0.7102343935, 2.4321637789, -1.0574478332)),
        ("rls", {"form": "recursive"}, (-2.4722156494, 3.6501765703, 0.8855709482)),
        ("rls", {"rows": 4, "form": "recursive"}, (-0.7384601481, 2.2546644167, -0.9712328747)),
        ("ir-rls", {}, (-2.5412618735, 3.7984987203, 0.9421138342)),
        ("ir-rls", {"rows": 4}, (-0.7102343935, 2.4321637789, -1.0574478332)),
        ("nr-rls", {"form": "per-row"}, (-2.5412618735, 3.7984987203, 0.9421138342)),
        ("ter", {"tau": 0.2, "eta": 0.5}, (-1.0707856366, 1.8993943276, 0.4711922828)),
        ("perceptron", {}, (-1, 0.6, -0.4)),
        ("pa", {}, (-1.1176741142, 0.4955546248, -0.1549613663)),
        ("pa-1", {"C": 0.1}, (-0.2, 0.09, -0.16)),
        ("pa-2", {"C": 0.1}, (-0.1473916012, 0.2237926109, -0.1492040551)),
        ("arow", {"cov": "full"}, (-0.4883701973, 0.9638063149, -0.3408782131)),
        ("arow", {}, (-0.2993874273, 0.7173791277, -0.2640033399)),
        ("arow", {"diag": "drop"}, (-0.3088963043, 0.7172233566, -0.2490278551)),
        ("ar-rls", {}, (-2.5825670151, 3.9116952643, 0.9388043434)),
        ("ar-rls", {"weights": "decay"}, (-2.5485610781, 3.8433054358, 0.9399558982)),
        ("cw-stdev", {"cov": "full"}, (-0.4966793950, 0.6159200601, 0.2077248401)),
        ("cw-stdev", {}, (-0.3906075056, 0.3468901501, -0.0766783262)),
        ("cw-var", {"cov": "full"}, (-0.3108656629, 0.5494934829, 0.0375008385)),
        ("cw-var", {}, (-0.2317852119, 0.3865909280, -0.1236234357)),
        ("acog-1", {"cov": "full", "metric": "cost", "cost": 0.625}, (-0.9137217315, 0.5546445788, -0.4029357222)),
        ("acog-1", {"metric": "cost", "cost": 0.625}, (-0.5321428571, 0.2917709415, -0.6023741110)),
        ("acog-1", {"cov": "full", "metric": "cost"}, (-0.9137217315, 0.5546445788, -0.4029357222)),
        ("acog-2", {"cov": "full", "metric": "cost", "cost": 0.625}, (-0.7471564625, 1.0763604111, -0.4691534861)),
    ],
)
def test_weights(name, params, want):
    np.testing.assert_allclose(weights(name, **params), want, rtol=0, atol=5e-11)


def test_published_recursion_loses_digits_but_agrees():
    got = weights("nr-rls", form="algorithm1")
    want = weights("nr-rls")
    np.testing.assert_allclose(got, want, rtol=1e-7)
    assert not np.allclose(got, want, rtol=1e-12, atol=0)


def test_scores_of_the_eight_rows():
    learner = registry.build("ter")
    scores = learner.decision(train(learner, EIGHT, TWO), EIGHT)[0]
    want = (-1.31350955, -0.36238270, -1.21629383, 0.78017125, 0.97159836, -0.26516698, 0.87137830, -1.21328949)
    np.testing.assert_allclose(scores, want, rtol=0, atol=5e-9)


def test_three_classes():
    code = code_matrix(["0", "1", "2"])
    learner = registry.build("nr-rls")
    state = train(learner, EIGHT, THREE, code=code)
    want = [
        (1.3259496220, 1.5555884060, -2.5412618735),
        (-2.6751992353, -2.1302108142, 3.7984987203),
        (-0.2692517791, -1.2296461516, 0.9421138342),
    ]
    np.testing.assert_allclose(state.w.T, want, rtol=0, atol=5e-11)
    assert decode(code, learner.decision(state, EIGHT)).tolist() == [0, 0, 0, 2, 2, 1, 2, 1]


def test_one_step_of_full_arow_shrinks_the_variance_of_the_row():
    """v_new = v r / (v + r)."""
    learner = registry.build("arow", cov="full", r=0.5)
    x = np.array([[1.0, 0.8, 0.3]])
    state = train(learner, x, np.array([1], np.int32))
    v = float(x[0] @ x[0])
    assert x[0] @ state.sigma[0] @ x[0] == pytest.approx(v * 0.5 / (v + 0.5), rel=1e-12)


def test_after_a_pa_step_the_margin_is_one():
    learner = registry.build("pa")
    x = np.array([[1.0, 0.8, 0.3]])
    state = train(learner, x, np.array([0], np.int32))
    assert learner.decision(state, x)[0, 0] == pytest.approx(-1.0, rel=1e-12)


def test_class_never_seen_has_no_score():
    code = code_matrix(["0", "1", "2"])
    learner = registry.build("nr-rls")
    state = train(learner, EIGHT, TWO, code=code)
    assert np.isneginf(learner.decision(state, EIGHT)[2]).all()


def test_without_ridge_a_singular_matrix_gives_the_shortest_solution():
    X = np.column_stack([EIGHT, EIGHT[:, 1]])
    state = train(registry.build("ls", b=0.0), X, TWO)
    assert state.w[0, 1] == pytest.approx(state.w[0, 3], rel=1e-6)
    np.testing.assert_allclose(X @ state.w[0], EIGHT @ weights("ls", b=0.0), rtol=0, atol=1e-8)


def test_no_rows_give_no_scores():
    learner = registry.build("nr-rls")
    assert np.isnan(learner.decision(learner.init(Shape(1, 3, 2)), EIGHT)).all()
    assert BINARY.shape == (1, 2)
