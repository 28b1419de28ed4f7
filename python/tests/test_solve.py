import numpy as np
import pytest
import scipy.sparse as sp
from conftest import laplacian
from scipy.sparse.linalg import LinearOperator, aslinearoperator, spsolve

from block_eigs import NotConverged, solve


@pytest.fixture(scope="module")
def system():
    A, _ = laplacian(25, 26)
    F = np.random.default_rng(3).standard_normal((A.shape[0], 5))
    return A, F, spsolve(A.tocsc(), F)


@pytest.mark.parametrize("preconditioner", ["auto", "jacobi", "none", "chebyshev", "amg", None])
def test_solutions(system, preconditioner):
    A, F, exact = system
    solved = solve(A, F, tol=1e-10, preconditioner=preconditioner)
    assert preconditioner != "auto" or "because" in solved.preconditioner[0]
    assert solved.converged and solved.x.shape == F.shape
    np.testing.assert_allclose(solved.x, exact, rtol=0, atol=1e-7 * np.abs(exact).max())
    np.testing.assert_allclose(solved.residual_norms, np.linalg.norm(F - A @ solved.x, axis=0), rtol=1e-3)
    assert np.all(solved.residual_norms <= 1.01e-10 * solved.rhs_norms)


def test_one_vector_and_a_guess(system):
    A, F, exact = system
    solved = solve(A, F[:, 0], x0=exact[:, 0])
    assert solved.x.shape == (A.shape[0],) and solved.iterations <= 1
    np.testing.assert_allclose(solved.x, exact[:, 0], atol=1e-6)


def test_single_precision(system):
    A, F, exact = system
    solved = solve(A.astype(np.float32), F)
    assert solved.x.dtype == np.float32
    np.testing.assert_allclose(solved.x, exact, atol=1e-2 * np.abs(exact).max())


def test_operators(system):
    A, F, exact = system
    jacobi = LinearOperator(A.shape, matvec=lambda x: x / 4, matmat=lambda x: x / 4, dtype=float)
    solved = solve(aslinearoperator(A), F, preconditioner=jacobi)
    np.testing.assert_allclose(solved.x, exact, atol=1e-6 * np.abs(exact).max())
    solved = solve(A, F, preconditioner=lambda x: x / 4)
    np.testing.assert_allclose(solved.x, exact, atol=1e-6 * np.abs(exact).max())


def test_a_plain_function_has_the_rows_of_the_right_hand_sides(system):
    A, F, exact = system
    solved = solve(lambda x: A @ x, F)
    np.testing.assert_allclose(solved.x, exact, atol=1e-6 * np.abs(exact).max())
    solved = solve(lambda x: A @ x, F[:, 0].tolist())
    np.testing.assert_allclose(solved.x, exact[:, 0], atol=1e-6 * np.abs(exact).max())
    with pytest.raises(ValueError, match="F must have one or two dimensions"):
        solve(lambda x: A @ x, 1.0)


def test_not_converged_carries_what_there_is(system):
    A, F, _ = system
    with pytest.raises(NotConverged) as caught:
        solve(A, F, maxiter=3)
    assert caught.value.result.x.shape == F.shape and "maxiter=" in str(caught.value)


def test_callback_and_history(system):
    A, F, _ = system
    seen = []
    solved = solve(A, F, callback=lambda now: seen.append((now.iteration, now.converged)))
    assert len(seen) == solved.iterations == len(solved.history.seconds)
    assert solved.history.residual_norms.shape[1] == F.shape[1]


def test_formats(system):
    A, F, exact = system
    for container in (sp.csc_matrix, sp.coo_array, lambda m: m.toarray()):
        np.testing.assert_allclose(solve(container(A), F).x, exact, atol=1e-6 * np.abs(exact).max())
