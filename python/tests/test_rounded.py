"""Matrices that only rounding keeps from being symmetric."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh

from block_eigs import eigsh, solve


def normalised_laplacian(kind):
    """S W S in that precision: an entry and its mirror image are products in another order."""
    w = sp.random(500, 500, 0.04, random_state=0, dtype=kind)
    w = (w + w.T).tocsr()
    s = sp.diags(1 / np.sqrt(np.asarray(w.sum(1)).ravel()))
    return (sp.eye(500, dtype=kind) - s @ w @ s).astype(kind).tocsr()


def test_in_float32():
    L = normalised_laplacian(np.float32)
    assert abs(L - L.T).max() > 1e-9
    w, v = eigsh(L, 4, which="LA")
    np.testing.assert_allclose(w, eigh(L.toarray().astype(float), eigvals_only=True)[-4:], rtol=1e-5)
    f = np.ones(500, dtype=np.float32)
    x = solve(L + sp.eye(500, dtype=np.float32, format="csr"), f).x
    np.testing.assert_allclose(L @ x + x, f, atol=1e-4)


def test_in_double():
    L = normalised_laplacian(np.float64)
    np.testing.assert_allclose(eigsh(L, 4, which="LA")[0], eigh(L.toarray(), eigvals_only=True)[-4:], rtol=1e-8)
    other = L + sp.csr_matrix(([1e-5], ([3], [4])), shape=L.shape)
    with pytest.raises(ValueError, match=r"is not symmetric: .* where only rounding parts them, take \(A \+ A.T\) / 2"):
        eigsh(other, 4)
    # As much as an entry of a row of float32 may differ, the values being doubles.
    with pytest.raises(ValueError, match="is not symmetric"):
        eigsh(normalised_laplacian(np.float32).astype(float), 4)
