"""SciPy's own tests of eigsh, run with our function in its place.

SciPy's module is taken from where SciPy is installed, with its matrices and its tolerances; tests/test_arpack.py of
scipy/sparse/linalg/_eigen/arpack. Of its tests of eigsh

test_symmetric_modes is run for SA and LA, with and without M, float32 and float64, sparse, dense and LinearOperator.
    LM, SM, BE, and sigma with its modes are not offered; they say what to do instead (test_errors.py).
test_symmetric_starting_vector is run for SA and LA instead of LM, which is the same as LA for its matrices.
test_symmetric_no_convergence has 30 rows, which are solved densely here, so that nothing is left undone: run with 300
    rows, without factors, and residuals as tol=0 means them here (SciPy's test asks for 4e-13).
test_eigen_bad_shapes, test_eigen_bad_kwargs, test_ticket_1459_arpack_crash, test_parallel_threads and
test_eigsh_for_k_greater are written out below where they are of eigs too; the A of the last, of which SciPy takes one
    triangle, is made symmetric: others are refused here. SciPy calls eigh there, and is equal to it bit for bit; this
    function is to rounding, and to the signs of vectors.
test_real_eigs_real_k_subset is of eigs, and done for eigsh all the same.

What does not apply is in DOES_NOT_APPLY, and test_nothing_is_left_out holds the two lists against SciPy's module.
"""

import inspect
import threading

import numpy as np
import pytest
import scipy
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, aslinearoperator

from block_eigs import eigsh

arpack = pytest.importorskip("scipy.sparse.linalg._eigen.arpack.tests.test_arpack")


def generate(function, *arguments, **options):
    """A matrix of SciPy's, whose functions take a generator of random numbers since 1.16."""
    np.random.seed(1234)
    if "rng" in inspect.signature(function).parameters:
        options["rng"] = np.random.RandomState(1234)
    return function(*arguments, **options)


DOES_NOT_APPLY = {
    "test_hermitian_modes": "complex matrices are not offered (test_errors.py)",
    "test_linearoperator_deallocation": "about classes of SciPy",
    "test_reentering": "a run within a run works here (test_operators.py) and is no error",
    "test_regression_arpackng_1315": "of eigs",
    "test_eigs_for_k_greater": "of eigs",
    "test_gh24358": "of eigs",
    "test_real_nonsymmetric_modes": "of eigs",
    "test_complex_nonsymmetric_modes": "of eigs",
    "test_nonsymmetric_starting_vector": "of eigs",
    "test_standard_nonsymmetric_starting_vector": "of eigs",
    "test_general_nonsymmetric_starting_vector": "of eigs",
    "test_standard_nonsymmetric_no_convergence": "of eigs",
}


@pytest.fixture
def ours(monkeypatch):
    """SciPy's test functions with our eigsh, which they must call."""
    calls = []

    def counted(*arguments, **options):
        calls.append(arguments)
        return eigsh(*arguments, **options)

    monkeypatch.setattr(arpack, "eigsh", counted)
    yield arpack
    assert calls


@pytest.mark.skipif(np.lib.NumpyVersion(scipy.__version__) >= "1.18.0", reason="lists are of SciPy 1.8 to 1.17")
def test_nothing_is_left_out():
    theirs = {name for name in vars(arpack) if name.startswith("test_")}
    here = {name for name in globals() if name.startswith("test_")}
    assert "test_symmetric_modes" in theirs
    assert theirs - DOES_NOT_APPLY.keys() - here == set()


@pytest.fixture(scope="module")
def params():
    return arpack.SymmetricParams()


@pytest.mark.parametrize("mattype", [sp.csr_matrix, aslinearoperator, np.asarray])
@pytest.mark.parametrize("which", ["SA", "LA"])
@pytest.mark.parametrize("typ", ["f", "d"])
@pytest.mark.parametrize("case", [0, 1])
def test_symmetric_modes(ours, params, case, typ, which, mattype):
    ours.eval_evec(True, params.real_test_cases[case], typ, 2, which, None, None, mattype, None, "normal")


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("typ", ["f", "d"])
@pytest.mark.parametrize("case", [0, 1])
@pytest.mark.parametrize("which", ["SA", "LA"])  # SciPy's has LM: the matrices are positive definite
def test_symmetric_starting_vector(ours, params, which, case, typ, k):
    d = params.real_test_cases[case]
    v0 = np.random.RandomState(k).rand(len(d["v0"])).astype(typ)
    ours.eval_evec(True, d, typ, k, which, v0)


def test_symmetric_no_convergence():
    m = generate(arpack.generate_matrix, 300, hermitian=True, pos_definite=True)
    tol, rtol, atol = arpack._get_test_tolerance("d")
    with pytest.raises(ArpackNoConvergence) as caught:
        eigsh(m, 4, which="LA", v0=m[:, 0], maxiter=5, tol=tol, preconditioner="none", options={"dense_up_to": 0})
    error = caught.value
    k = len(error.eigenvalues)
    assert 0 < k < 4, "spurious no-eigenvalues-found case"
    assert_allclose(
        m @ error.eigenvectors, error.eigenvectors * error.eigenvalues, rtol=1e-8, atol=1e-8 * error.eigenvalues.max()
    )


def test_eigen_bad_shapes():
    with pytest.raises(ValueError):
        eigsh(sp.csc_matrix(np.zeros((2, 3))))


def test_eigen_bad_kwargs():
    with pytest.raises(ValueError):
        eigsh(sp.csc_matrix(np.zeros((8, 8))), which="XX")


def test_ticket_1459_arpack_crash():
    for dtype in [np.float32, np.float64]:
        np.random.seed(2301)
        A = np.random.random((6, 6)).astype(dtype)
        A = A + A.T
        v0 = np.array(
            [
                -0.71063568258907849895,
                -0.83185111795729227424,
                -0.34365925382227402451,
                0.46122533684552280420,
                -0.58001341115969040629,
                -0.78844877570084292984e-01,
            ],
            dtype=dtype,
        )
        eigsh(A, 2, v0=v0)


def test_parallel_threads():
    results = []
    v0 = np.random.rand(50)

    def worker():
        x = sp.diags([1, -2, 1], [-1, 0, 1], shape=(50, 50))
        w, v = eigsh(x, k=3, v0=v0)
        results.append(w)

    threads = [threading.Thread(target=worker) for k in range(10)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    worker()
    assert len(results) == 11
    for r in results:
        assert_allclose(r, results[-1])


def test_eigsh_for_k_greater():
    A_sparse = sp.diags([1, -2, 1], [-1, 0, 1], shape=(4, 4))
    A = generate(arpack.generate_matrix, 4, sparse=False, hermitian=True)
    M_dense = generate(arpack.generate_matrix_symmetric, 4, pos_definite=True)
    M_sparse = generate(arpack.generate_matrix_symmetric, 4, pos_definite=True, sparse=True)
    M_linop = aslinearoperator(M_dense)
    eig_tuple1 = eigh(A, b=M_dense)
    eig_tuple2 = eigh(A, b=M_sparse)
    with pytest.warns(RuntimeWarning):
        for ours, theirs in (
            (eigsh(A, M=M_dense, k=4), eig_tuple1),
            (eigsh(A, M=M_dense, k=5), eig_tuple1),
            (eigsh(A, M=M_sparse, k=5), eig_tuple2),
        ):
            assert_allclose(ours[0], theirs[0], rtol=1e-14, atol=1e-14)
            assert_allclose(abs(ours[1]), abs(theirs[1]), rtol=1e-10, atol=1e-10)
    with pytest.raises(TypeError):
        eigsh(A, M=M_linop, k=4)
    with pytest.raises(TypeError):
        eigsh(aslinearoperator(A), k=4)
    with pytest.raises(TypeError):
        eigsh(A_sparse, M=M_dense, k=4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("which", ["SA", "LA"])
def test_real_eigs_real_k_subset(dtype, which):
    """SciPy's is of eigs."""
    n = 10
    A = sp.rand(n, n, density=0.5, random_state=1)
    A.data = 2 * A.data - 1
    A = (A + A.T).astype(dtype)
    eps = np.finfo(dtype).eps
    before = np.array([], dtype=dtype)
    for k in range(1, 9):
        w, z = eigsh(A, k=k, which=which, v0=np.ones(n, dtype=dtype), tol=0)
        assert_allclose(np.linalg.norm(A.dot(z) - z * w), 0, atol=np.sqrt(eps))
        if len(before):
            assert_allclose(abs(before[:, None] - w).min(axis=1), 0, atol=np.sqrt(eps))
        before = w
