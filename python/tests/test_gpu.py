"""Arrays of CuPy: with CuPy and a GPU where there are some, else with stand-ins that have its interface alone."""

import sys
import types

import numpy as np
import pytest
from conftest import laplacian

from block_eigs import eigsh, solve


class OnGpu:
    """What is asked of a CuPy array or sparse matrix."""

    def __init__(self, value):
        self.value = value
        self.shape = value.shape
        self.data = self
        self.__cuda_array_interface__ = {}

    def get(self):
        return self.value


def test_vectors_go_back_where_the_matrix_is(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(asarray=lambda x: OnGpu(np.asarray(x))))
    A, exact = laplacian(14, 15)
    w, v = eigsh(OnGpu(A), k=3, v0=OnGpu(np.ones(A.shape[0])))
    np.testing.assert_allclose(w, exact[:3], rtol=1e-12)
    assert isinstance(v, OnGpu) and v.shape == (A.shape[0], 3)
    solved = solve(OnGpu(A), OnGpu(np.ones(A.shape[0])))
    assert isinstance(solved.x, OnGpu)


def test_cupy():
    cupy = pytest.importorskip("cupy")
    sparse = pytest.importorskip("cupyx.scipy.sparse")
    if not cupy.is_available():
        pytest.skip("no GPU")
    A, exact = laplacian(20, 21, 22)
    w, v = eigsh(sparse.csr_matrix(A), k=4)
    np.testing.assert_allclose(w, exact[:4], rtol=1e-12)
    assert isinstance(v, cupy.ndarray)
