"""Factors, which the package has without PETSc: what they are for, against SciPy's."""

import block_eigs
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh, splu

from conftest import second_difference


def has_factors():
    try:
        block_eigs.eigsh(second_difference(40), 1, preconditioner="direct")
    except ValueError as error:
        assert "MUMPS" in str(error)
        return False
    return True


pytestmark = pytest.mark.skipif(not has_factors(), reason="this build lacks MUMPS")


def beam(n):
    """(K, M) of a clamped beam of n Hermite elements of unequal stiffness, whose condition grows as n^4."""
    stiffness = np.array([[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]], float)
    mass = np.array([[156, 22, 54, -13], [22, 4, 13, -3], [54, 13, 156, -22], [-13, -3, -22, 4]], float) / 420
    nodes = 2 * np.arange(n)[:, None] + np.arange(4)
    rows, columns = np.repeat(nodes, 4, axis=1).ravel(), np.tile(nodes, 4).ravel()
    weights = 1 + np.arange(n) % 7
    size = 2 * n + 2
    K = sp.coo_matrix((np.multiply.outer(weights, stiffness).ravel(), (rows, columns)), shape=(size, size)).tocsr()
    M = sp.coo_matrix((np.tile(mass.ravel(), n), (rows, columns)), shape=(size, size)).tocsr()
    return K[2:, 2:], M[2:, 2:]


def test_a_beam_converges_by_default():
    """Nothing but factors does: every preconditioner by A's entries takes more iterations than there are rows."""
    K, M = beam(2000)
    pairs = block_eigs.eigsh(K, 4, M)
    exact = eigsh(K, 4, M, sigma=0, return_eigenvectors=False)
    assert np.allclose(pairs.eigenvalues, np.sort(exact), rtol=1e-5)
    assert pairs.converged


def test_direct_has_the_pairs_of_shift_and_invert():
    K, M = beam(60)
    values, vectors = block_eigs.eigsh(K, 5, M, preconditioner="direct", verify="inertia", tol=1e-10)
    exact = np.sort(eigsh(K, 5, M, sigma=0, return_eigenvectors=False))
    assert np.allclose(values, exact, rtol=1e-6)
    assert np.allclose(vectors.T @ (M @ vectors), np.eye(5), atol=1e-8)


def test_solve_with_factors():
    K, _ = beam(200)
    F = np.random.default_rng(3).standard_normal((K.shape[0], 6))
    X = block_eigs.solve(K, F, preconditioner="direct").x
    exact = splu(K.tocsc()).solve(F)
    assert np.linalg.norm(X - exact) <= 1e-6 * np.linalg.norm(exact)


def test_inertia_certifies():
    pairs = block_eigs.eigsh(second_difference(300), 4, verify="inertia")
    assert pairs.proof.made == "inertia"
    assert "4 eigenvalues below" in pairs.proof.statement and "none missed" in pairs.proof.statement
