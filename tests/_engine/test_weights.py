import numpy as np
import pytest
from reference import drawn
from scipy.sparse import csr_array, issparse
from threadpoolctl import threadpool_limits

from echofold._engine import weights as _weights
from echofold._engine.weights import Sparse, draw, matrix_of, prepare, spectral_radius


def test_dense_draw_is_the_documented_stream():
    W_in, W = draw(7, 3, 1.0, 5)
    expected_in, expected = drawn(7, 3, 5)
    assert np.array_equal(W_in, expected_in)
    assert np.array_equal(W, expected)


def test_draws_repeat_and_differ_by_seed():
    assert np.array_equal(draw(9, 1, 0.5, 3)[1].toarray(), draw(9, 1, 0.5, 3)[1].toarray())
    assert not np.array_equal(draw(9, 1, 0.5, 3)[1].toarray(), draw(9, 1, 0.5, 4)[1].toarray())


@pytest.mark.parametrize(
    ("units", "connectivity", "connections"), [(40, 0.05, 2), (40, 0.001, 1), (10, 0.5, 5)]
)
def test_sparse_draw_gives_every_unit_as_many_connections(units, connectivity, connections):
    W_in, W = draw(units, 2, connectivity, 0)
    assert W_in.shape == (units, 3)
    assert issparse(W)
    counts = (W.toarray() != 0).sum(axis=1)
    assert (counts == connections).all()
    assert (np.abs(W.data) < 0.5).all()


def test_weights_are_centred_on_zero():
    W_in, W = draw(200, 50, 1.0, 0)
    assert abs(W.mean()) < 5e-3
    assert W.std() == pytest.approx(1 / np.sqrt(12), rel=1e-2)
    assert abs(W_in.mean()) < 2e-2


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("units", [30, 450])
def test_spectral_radius_equals_the_eigenvalues(units, sparse):
    W = draw(units, 1, 0.1 if sparse else 1.0, 2)[1]
    dense = W.toarray() if sparse else W
    assert spectral_radius(W) == pytest.approx(np.abs(np.linalg.eigvals(dense)).max(), rel=1e-10)


def test_spectral_radius_of_integers_and_of_a_crowded_spectrum():
    assert spectral_radius(np.diag(np.arange(450))) == pytest.approx(449)
    rotation = np.roll(np.eye(450), 1, axis=0)  # every eigenvalue on the unit circle
    assert spectral_radius(rotation) == pytest.approx(1)


def shuffled(W, seed=0):
    order = np.random.default_rng(seed).permutation(len(W))
    return W[order][:, order]


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("units", [60, 450])
def test_a_matrix_without_cycles_has_the_radius_of_its_diagonal(units, form):
    rng = np.random.default_rng(1)
    few = np.tril(rng.uniform(-0.5, 0.5, (units, units)) * (rng.random((units, units)) < 0.05), -1)
    for W in (np.tril(np.ones((units, units)), -1), few):
        for one in (W, W.T, shuffled(W)):
            assert spectral_radius(form(one)) == 0
            with pytest.raises(ValueError, match="spectral radius of zero.*spectral_radius=None"):
                prepare(np.ones((units, 2)), form(one), rescale=True)
        loops = W + np.diag(np.linspace(-0.25, 0.1, units))
        assert spectral_radius(form(shuffled(loops))) == pytest.approx(0.25, rel=1e-12)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_the_radius_is_that_of_the_cycles(form):
    W = np.tril(np.ones((450, 450)), -1)
    W[:200, :200] = draw(200, 1, 1.0, 0)[1] / 50
    W[300, 301] = 1e-4  # a cycle of two, with a radius of 0.01
    expected = np.abs(np.linalg.eigvals(W[:200, :200])).max()
    assert spectral_radius(form(shuffled(W))) == pytest.approx(expected, rel=1e-12)
    W[:200] = 0
    assert spectral_radius(form(shuffled(W))) == pytest.approx(1e-2, rel=1e-9)


@pytest.mark.parametrize("units", [320, 450])
def test_the_radius_is_the_same_with_any_number_of_threads(units):
    for seed in range(5):
        W = draw(units, 1, 1.0, seed)[1]
        with threadpool_limits(1, user_api="blas"):
            one = spectral_radius(W)
        with threadpool_limits(4, user_api="blas"):
            assert spectral_radius(W) == one


def test_prepare_finds_the_radius_only_to_rescale():
    W_in, W = draw(20, 1, 1.0, 0)
    assert prepare(W_in, W, rescale=False).radius is None
    assert prepare(W_in, W, rescale=True).radius == spectral_radius(W)


@pytest.mark.parametrize("W", [np.zeros((3, 3)), np.eye(4, k=1), csr_array((5, 5))])
def test_zero_radius_cannot_be_rescaled(W):
    with pytest.raises(ValueError, match="spectral radius of zero.*spectral_radius=None"):
        prepare(
            np.ones((len(W.indptr) - 1 if hasattr(W, "indptr") else len(W), 2)), W, rescale=True
        )


def test_sparse_form_where_it_pays_and_it_holds_the_same_matrix():
    _, W = draw(40, 1, 0.05, 0)
    for given in (W, W.toarray(), W.tocoo()):
        held = prepare(np.ones((40, 2)), given, rescale=False).W
        assert isinstance(held, Sparse)
        back = np.zeros((40, 40))
        np.add.at(back, (np.arange(40)[:, None], held.columns), held.values)
        assert np.array_equal(back, W.toarray())
    crowded = prepare(np.ones((40, 2)), draw(40, 1, 0.5, 0)[1], rescale=False).W
    assert isinstance(crowded, np.ndarray)


def test_rows_of_unequal_counts_are_padded():
    W = np.zeros((40, 40))
    W[0, 3], W[5, [1, 2, 39]] = 0.5, [1.0, 2.0, 3.0]
    held = prepare(np.ones((40, 2)), W, rescale=False).W
    back = np.zeros((40, 40))
    np.add.at(back, (np.arange(40)[:, None], held.columns), held.values)
    assert np.array_equal(back, W)


def test_an_empty_sparse_matrix_stays_sparse():
    W = prepare(np.zeros((10**6, 1)), csr_array((10**6, 10**6)), rescale=False).W
    assert W.values.shape == (10**6, 1) and not W.values.any()


def test_the_matrix_that_numpy_steps_by_is_made_once_and_goes_with_its_values():
    rng = np.random.default_rng(0)
    uneven = np.where(rng.random((50, 50)) < 0.03, rng.normal(size=(50, 50)), 0.0)
    for given in (uneven, csr_array(uneven)):
        W = prepare(np.ones((50, 2)), given, rescale=False).W
        matrix = matrix_of(W)
        assert isinstance(W, Sparse) and matrix_of(W) is matrix
        np.testing.assert_array_equal(matrix.toarray(), uneven)
        name = id(W.values)
        del W
        assert name not in _weights._matrices
