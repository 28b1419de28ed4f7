"""k >= n of dense matrices: all pairs, by the same rules as fewer."""

import numpy as np
import pytest
from conftest import laplacian, residuals
from scipy.linalg import eigh

from block_eigs import eigsh

pytestmark = pytest.mark.filterwarnings("ignore:k >= n:RuntimeWarning")


@pytest.mark.parametrize("which", ["SA", "LA"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("k", [12, 40])
def test_all_pairs_of_a_dense_matrix(k, kind, which):
    """Are a result like others, for which the same is checked."""
    A, exact = laplacian(3, 4)
    M = np.diag(1.0 + np.arange(12) % 3).astype(kind)
    with pytest.warns(RuntimeWarning, match="k >= n for a matrix of n = 12 rows: all pairs"):
        result = eigsh(A.toarray().astype(kind), k, which=which)
        w, v, info = eigsh(A.toarray().astype(kind), k, M, which=which, return_info=True)
    np.testing.assert_allclose(result.eigenvalues, exact, rtol=1e-12 if kind is np.float64 else 1e-6)
    assert result.converged and len(result.status) == 12 and result.wanted == 12
    assert result.residual_norms.max() < 1e-5 and result.eigenvectors.dtype == kind
    assert info.eigenvalues is w and residuals(A, w, v, M).max() < 1e-5
    np.testing.assert_allclose(w, eigh(A.toarray(), M, eigvals_only=True), rtol=1e-6)


def test_all_pairs_of_a_matrix_that_is_symmetric_to_rounding():
    """As with fewer pairs: to 1e-10 of the row."""
    A = laplacian(3, 4)[0].toarray()
    A[0, 1] += 1e-11
    for k in (3, 12):
        assert eigsh(A, k).converged
    A[0, 1] += 1e-3
    for k in (3, 12):
        with pytest.raises(ValueError, match="symmetric"):
            eigsh(A, k)


def test_where_all_pairs_are_asked_for_the_same_is_refused():
    with pytest.raises(ValueError, match="symmetric"):
        eigsh(np.array([[2.0, 1, 0], [3, 2, 1], [0, 1, 2]]), 3)
    with pytest.raises(TypeError, match="complex"):
        eigsh(1j * np.eye(3), 3)
    with pytest.raises(ValueError, match="not positive definite"):
        eigsh(np.eye(3), 3, M=-np.eye(3))
    with pytest.raises(ValueError, match="^A and M must have the same shape"):
        eigsh(np.eye(3), 3, M=np.eye(2))
    for wrong in ({"device": "bogus"}, {"tol": "x"}, {"v0": "y"}, {"preconditioner": 3}, {"constraints": np.ones(3)}):
        with pytest.raises((TypeError, ValueError), match=next(iter(wrong))):
            eigsh(np.eye(3), 3, **wrong)
    with pytest.raises(TypeError, match="less than the number of rows"):
        eigsh(np.zeros((0, 0)), 1)
