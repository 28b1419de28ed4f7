import numpy as np
import pytest
import scipy.sparse as sp
from conftest import laplacian, ones_given_many_times, residuals
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh as scipy_eigsh

import block_eigs
from block_eigs import EigenPairs, NotConverged, eigsh


def mass_of(n):
    """Consistent mass matrix of linear elements on a line."""
    return sp.diags([1 / 6, 2 / 3, 1 / 6], [-1, 0, 1], shape=(n, n), format="csr")


@pytest.mark.parametrize("which", ["SA", "LA"])
def test_laplacian(cube, which):
    A, exact = cube
    result = eigsh(A, k=7, which=which)
    w, v = result
    np.testing.assert_allclose(w, exact[:7] if which == "SA" else exact[-7:], rtol=1e-12)
    assert np.all(np.diff(w) >= 0)
    assert v.shape == (A.shape[0], 7) and v.dtype == np.float64
    np.testing.assert_allclose(v.T @ v, np.eye(7), atol=1e-12)
    assert np.all(residuals(A, w, v) <= 1.1e-8 * w)
    np.testing.assert_allclose(result.residual_norms, residuals(A, w, v), rtol=1e-3, atol=1e-13)
    assert np.all(np.abs(w - (exact[:7] if which == "SA" else exact[-7:])) <= result.error_bounds)


def test_defaults_are_those_of_scipy(cube):
    A, exact = cube
    w, v = eigsh(A)
    assert w.shape == (6,) and v.shape == (A.shape[0], 6)
    assert np.array_equal(eigsh(A, return_eigenvectors=False), w)


@pytest.mark.parametrize("which", ["SA", "LA"])
def test_as_scipy_with_mass(which):
    A, _ = laplacian(20, 25)
    M = sp.csr_matrix(sp.kron(mass_of(20), mass_of(25)))
    w, v = eigsh(A, 5, M, which=which)
    expected = eigh(A.toarray(), M.toarray(), eigvals_only=True)
    expected = expected[:5] if which == "SA" else expected[-5:]
    np.testing.assert_allclose(w, expected, rtol=1e-10)
    np.testing.assert_allclose(v.T @ (M @ v), np.eye(5), atol=1e-10)


@pytest.mark.parametrize(
    "container",
    [
        sp.csr_matrix,
        sp.csc_matrix,
        sp.coo_matrix,
        sp.bsr_matrix,
        sp.dia_matrix,
        sp.lil_matrix,
        sp.csr_array,
        sp.coo_array,
        lambda A: A.toarray(),
    ],
)
def test_containers(container):
    A, exact = laplacian(9, 10)
    w, _ = eigsh(container(A), k=3)
    np.testing.assert_allclose(w, exact[:3], rtol=1e-12)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_indices_in_any_order_and_twice(index):
    A, exact = laplacian(11, 12)
    A.sort_indices()
    entries = []
    for i in range(A.shape[0]):
        for j in range(A.indptr[i], A.indptr[i + 1])[::-1]:
            entries += [(A.indices[j], 0.25 * A.data[j]), (A.indices[j], 0.75 * A.data[j])]
    columns, values = zip(*entries, strict=True)
    doubled = sp.csr_matrix(A.shape)
    # Not by the constructor, which may choose the type of the indices itself.
    doubled.indptr, doubled.indices = (2 * A.indptr).astype(index), np.array(columns, dtype=index)
    doubled.data = np.array(values)
    before = doubled.indices.copy()
    w, _ = eigsh(doubled, k=4)
    np.testing.assert_allclose(w, exact[:4], rtol=1e-12)
    assert np.array_equal(doubled.indices, before), "the caller's matrix must not be changed"


@pytest.mark.parametrize("kind", [np.uint8, np.int8, bool, np.float32])
@pytest.mark.parametrize("form", ["coo", "csr", "csc", "bsr"])
def test_duplicates_are_summed_in_the_precision_at_work(form, kind):
    A = ones_given_many_times(form, kind)
    assert eigsh(A, 1, which="LA").eigenvalues == [300]
    assert A.nnz == 302, "the caller's matrix must not be changed"


def test_single_precision():
    A, exact = laplacian(30, 31)
    w, v = eigsh(A.astype(np.float32), k=4)
    assert w.dtype == np.float32 and v.dtype == np.float32
    np.testing.assert_allclose(w, exact[:4], rtol=1e-5)


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint8, bool, np.float16, np.longdouble])
def test_other_numbers_work_in_double(kind):
    A = sp.diags(np.arange(1, 51) % 2 + 1, format="csr").astype(np.int64)
    A = A.toarray().astype(kind) if kind is np.float16 else A.astype(kind)
    w, _ = eigsh(A, k=3)
    assert np.all(np.isin(w, [1, 2]))


def test_start_vectors_and_constraints(cube):
    A, exact = cube
    first = eigsh(A, k=4)
    again = eigsh(A, k=4, v0=first.eigenvectors)
    assert again.iterations <= first.iterations
    np.testing.assert_allclose(again.eigenvalues, exact[:4], rtol=1e-12)
    one = eigsh(A, k=1, v0=np.ones(A.shape[0]))
    np.testing.assert_allclose(one.eigenvalues, exact[:1], rtol=1e-12)
    others = eigsh(A, k=4, constraints=first.eigenvectors)
    np.testing.assert_allclose(others.eigenvalues, exact[4:8], rtol=1e-10)
    assert np.abs(first.eigenvectors.T @ others.eigenvectors).max() < 1e-7


@pytest.mark.parametrize(
    "preconditioner",
    [
        "auto",
        "none",
        "jacobi",
        "chebyshev",
        "amg",
        None,
        {"type": "chebyshev", "degree": 5},
        {"type": "amg", "precision": "double"},
    ],
)
def test_preconditioners(preconditioner):
    A, exact = laplacian(60, 61)
    w, _ = eigsh(A, k=3, preconditioner=preconditioner)
    np.testing.assert_allclose(w, exact[:3], rtol=1e-11)


def test_elasticity_like_coordinates():
    # Two unknowns a node that do not know of each other; rigid-body modes are good enough for these, too.
    A, exact = laplacian(40, 41)
    places = np.stack(np.meshgrid(np.arange(40), np.arange(41), indexing="ij"), axis=-1).reshape(-1, 2)
    both = sp.kron(A, sp.identity(2), format="csr")
    for unknowns in (
        {"coordinates": places},
        {"near_null_space": np.tile(np.eye(2), (A.shape[0], 1)), "unknowns_per_node": 2},
    ):
        w, _ = eigsh(both, k=4, preconditioner="amg", **unknowns)
        np.testing.assert_allclose(w, np.repeat(exact[:2], 2), rtol=1e-11)


@pytest.mark.parametrize("with_mass", [False, True])
def test_conditions_by_penalty(with_mass):
    """1e30 on the diagonal of boundary nodes, as finite element programs write it."""
    A, _ = laplacian(22, 23)
    M = sp.csr_matrix(sp.kron(mass_of(22), mass_of(23))) if with_mass else None
    inside = np.zeros((22, 23), bool)
    inside[1:-1, 1:-1] = True
    inside = inside.ravel()
    held = A + sp.diags(np.where(inside, 0.0, 1e30))
    w, v, info = eigsh(held, 5, M, which="SA", return_info=True)
    within = [B.tocsr()[inside][:, inside].toarray() if B is not None else None for B in (A, M)]
    np.testing.assert_allclose(w, eigh(*within, eigvals_only=True)[:5], rtol=1e-10)
    images = M @ v if with_mass else v
    assert np.all(np.linalg.norm(held @ v - images * w, axis=0) <= 1.01e-8 * w * np.linalg.norm(images, axis=0))
    assert f"{np.count_nonzero(~inside)} rows are held at zero by a penalty" in info.preconditioner
    assert info.nonzeros == held.nnz


def test_result_says_what_is_known(cube):
    A, _ = cube
    w, v, info = eigsh(A, k=3, return_info=True)
    assert isinstance(info, EigenPairs) and info.eigenvalues is w and info.eigenvectors is v
    assert info.converged and info.status == ["converged"] * 3 and info.message == ""
    assert info.history.residual_norms.shape == (len(info.history.seconds), 3)
    assert info.history.eigenvalues.shape == info.history.residual_norms.shape
    assert info.iterations > 0 and info.rows == A.shape[0] and info.nonzeros == A.nnz and info.ranks == 1
    assert info.preconditioner and "because" in info.preconditioner[0]
    assert info.bounds == "rigorous" and info.orthonormality < 1e-12
    assert info.proof.made in ("probe", "inertia", "none", "dense") and info.proof.statement
    assert set(info.times) == {"setup", "solve", "proof", "all"} and info.phases == {}
    assert "SpMM" in eigsh(A, k=3, profile=True).phases
    assert "pairs: 3" in info.config and "3 of 3" in repr(info)
    assert len(eigsh(A, k=3, return_info=True, return_eigenvectors=False)) == 2


def test_results_survive_pickling(cube):
    import pickle

    A, _ = cube
    result = eigsh(A, k=3)
    again = pickle.loads(pickle.dumps(result))
    assert np.array_equal(again.eigenvalues, result.eigenvalues) and again.status == result.status


def test_largest_are_turned_round_everywhere(cube):
    A, exact = cube
    result = eigsh(A, k=3, which="LA", tol=1e-3)
    np.testing.assert_allclose(result.history.eigenvalues[-1], result.eigenvalues, rtol=1e-3)
    np.testing.assert_allclose(residuals(A, *result), result.residual_norms, rtol=1e-6)


@pytest.mark.parametrize("k", [1, 4, 5])
def test_arrays_of_the_largest_can_be_handed_on(cube, k):
    """To hashes, buffers, PyTorch and MPI, which take no negative strides."""
    A, exact = cube
    result = eigsh(A, k, which="LA")
    for array in (*result, result.residual_norms, *vars(result.history).values()):
        assert array.flags.c_contiguous
        memoryview(array).cast("B")
    assert residuals(A, *result).max() < 1e-7 * exact[-1]


def test_random_start_vectors(cube):
    A, exact = cube
    for rng in (7, np.random.default_rng(5)):
        np.testing.assert_allclose(eigsh(A, k=2, rng=rng).eigenvalues, exact[:2], rtol=1e-12)
    with pytest.raises(ValueError, match="^rng"):
        eigsh(A, k=2, rng=-1)


def test_runs_repeat(cube):
    A, _ = cube
    first, second = eigsh(A, k=3), eigsh(A, k=3)
    assert np.array_equal(first.eigenvectors, second.eigenvectors)


def test_some_of_many_not_converged(cube):
    A, exact = cube
    with pytest.raises(NotConverged) as caught:
        eigsh(
            A, k=12, maxiter=30, preconditioner="jacobi", options={"dense_up_to": 0, "filtered_start": False}, tol=1e-3
        )
    error = caught.value
    assert isinstance(error, sp.linalg.ArpackNoConvergence)
    done = len(error.eigenvalues)
    assert error.eigenvectors.shape == (A.shape[0], done) and 0 < done < 12
    assert error.result.eigenvectors.shape[0] == A.shape[0] and not error.result.converged
    assert error.result.status.count("not_converged") == len(error.result.eigenvalues) - done
    assert "of 12 pairs" in str(error) and "maxiter = 30 reached" in str(error) and "maxiter=" in str(error)
    assert "ARPACK" not in str(error)


def test_advice_is_in_the_words_of_python(cube):
    with pytest.raises(NotConverged, match="preconditioner='auto'"):
        eigsh(cube[0], k=12, maxiter=10, preconditioner="jacobi", options={"dense_up_to": 0, "filtered_start": False})


def test_as_scipy_on_an_indefinite_matrix():
    rng = np.random.default_rng(5)
    A = sp.random(400, 400, density=0.02, random_state=rng, format="csr")
    A = A + A.T - sp.identity(400)
    for which in ("SA", "LA"):
        w, _ = eigsh(A, k=5, which=which)
        np.testing.assert_allclose(w, np.sort(scipy_eigsh(A, k=5, which=which)[0]), rtol=1e-10)


def test_plot(cube):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    result = eigsh(cube[0], k=3)
    figure = result.plot()
    convergence = figure.axes[0]
    assert max(len(line.get_xdata()) for line in convergence.lines) == len(result.history.seconds)
    assert result.plot(figure.axes) is figure


def test_version():
    assert block_eigs.__version__


@pytest.mark.parametrize("form", [list, np.float32, np.asfortranarray])
def test_start_vectors_of_any_form(cube, form):
    A, exact = cube
    start = np.random.default_rng(5).standard_normal((A.shape[0], 2))
    v0 = start.tolist() if form is list else start.astype(form) if form is np.float32 else form(start)
    np.testing.assert_allclose(eigsh(A, 4, v0=v0).eigenvalues, exact[:4], rtol=1e-12)


def test_start_vectors_are_used(cube):
    A, exact = cube
    cold = eigsh(A, 4, preconditioner="jacobi")
    rng = np.random.default_rng(6)
    near = cold.eigenvectors + 1e-6 * rng.standard_normal(cold.eigenvectors.shape)
    warm = eigsh(A, 4, v0=near, preconditioner="jacobi")
    assert warm.history.products.sum() < 0.7 * cold.history.products.sum()
    np.testing.assert_allclose(warm.eigenvalues, exact[:4], rtol=1e-12)
    # One that holds none of what is wanted does no harm, nor does nothing at all.
    for v0 in (np.zeros(A.shape[0]), eigsh(A, 4, which="LA").eigenvectors):
        np.testing.assert_allclose(eigsh(A, 4, v0=v0).eigenvalues, exact[:4], rtol=1e-12)


@pytest.mark.parametrize("rng", [7, np.int32(7), np.random.default_rng(7), np.random.RandomState(7)])
def test_seeds(cube, rng):
    A, exact = cube
    np.testing.assert_allclose(eigsh(A, 3, rng=rng).eigenvalues, exact[:3], rtol=1e-12)
