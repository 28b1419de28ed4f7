"""Arrays on a GPU: with CuPy and a GPU where there are some, else with stand-ins that have CuPy's interface alone."""

import sys
import types

import numpy as np
import pytest
from conftest import laplacian

from block_eigs import NotConverged, eigsh, solve


class OnGpu:
    """What is asked of a CuPy array or sparse matrix."""

    def __init__(self, value):
        self.value = value
        self.shape = value.shape
        self.dtype = value.dtype
        self.ndim = len(value.shape)
        self.data = self
        self.ptr = value.ctypes.data if isinstance(value, np.ndarray) else 0
        self.__cuda_array_interface__ = {}

    def get(self):
        return self.value

    def reshape(self, *shape):
        return OnGpu(self.value.reshape(*shape))


class OfTorch:
    """What is asked of a tensor on a GPU."""

    def __init__(self, value):
        self.value = value
        self.shape = value.shape
        self.__cuda_array_interface__ = {}

    def detach(self):
        return self

    def cpu(self):
        return types.SimpleNamespace(numpy=lambda: self.value)


@pytest.fixture
def stand_in(monkeypatch):
    """In place of the module cupy."""
    stream = types.SimpleNamespace(synchronize=lambda: None)
    module = types.SimpleNamespace(
        asarray=lambda x: x if isinstance(x, OnGpu) else OnGpu(np.asarray(x)),
        ascontiguousarray=lambda x, dtype: OnGpu(np.ascontiguousarray(x.value, dtype)),
        empty=lambda shape, dtype: OnGpu(np.empty(shape, dtype)),
        cuda=types.SimpleNamespace(get_current_stream=lambda: stream),
    )
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


def test_vectors_go_back_where_the_matrix_is(stand_in):
    A, exact = laplacian(14, 15)
    w, v = eigsh(OnGpu(A), k=3, v0=OnGpu(np.ones(A.shape[0])), which="SA", device="host")
    np.testing.assert_allclose(w, exact[:3], rtol=1e-12)
    assert isinstance(v, OnGpu) and v.shape == (A.shape[0], 3)
    solved = solve(OnGpu(A), OnGpu(np.ones(A.shape[0])), device="host")
    assert isinstance(solved.x, OnGpu) and solved.x.shape == (A.shape[0],)
    assert np.linalg.norm(A @ solved.x.value - 1.0) < 1e-6


def test_a_place_that_the_device_cannot_reach_is_not_used(stand_in):
    """This one is in host memory."""
    A, exact = laplacian(14, 15)
    w, v = eigsh(OnGpu(A), k=3)
    np.testing.assert_allclose(w, exact[:3], rtol=1e-12)
    assert np.linalg.norm(A @ v.value - v.value * w) < 1e-6


def test_tensors_are_fetched(monkeypatch):
    """Without CuPy."""
    monkeypatch.setitem(sys.modules, "cupy", None)
    A, _ = laplacian(14, 15)
    f = np.random.default_rng(0).standard_normal((A.shape[0], 2))
    solved = solve(A, OfTorch(f))
    assert np.linalg.norm(A @ solved.x - f) <= 1e-7 * np.linalg.norm(f)


@pytest.fixture
def cupy():
    module = pytest.importorskip("cupy")
    if not module.is_available():
        pytest.skip("no GPU")
    return module


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("which", ["SA", "LA"])
def test_cupy(cupy, dtype, which):
    import cupyx.scipy.sparse as sparse

    A, exact = laplacian(20, 21, 22)
    exact = exact[:4] if which == "SA" else exact[-4:]
    on_gpu = sparse.csr_matrix(A.astype(dtype))
    w, v = eigsh(on_gpu, k=4, which=which, device="cuda")
    np.testing.assert_allclose(w, exact, rtol=1e-12 if dtype == np.float64 else 1e-5)
    assert isinstance(v, cupy.ndarray) and v.dtype == dtype
    assert float(cupy.abs(v.T @ v - cupy.eye(4)).max()) < (1e-10 if dtype == np.float64 else 1e-4)
    assert float(cupy.linalg.norm(on_gpu @ v - v * cupy.asarray(w))) < (1e-6 if dtype == np.float64 else 1e-2)


@pytest.mark.gpu
@pytest.mark.parametrize("make", ["csc", "coo", "int64", "unsorted", "duplicates", "slice"])
def test_other_forms_are_copied(cupy, make):
    """What cannot be worked with as it is."""
    import cupyx.scipy.sparse as sparse

    A, exact = laplacian(15, 16, 17)
    on_gpu = sparse.csr_matrix(A)
    if make in ("csc", "coo"):
        on_gpu = on_gpu.asformat(make)
    elif make == "int64":
        on_gpu.indices = on_gpu.indices.astype("i8")
        on_gpu.indptr = on_gpu.indptr.astype("i8")
    elif make in ("unsorted", "duplicates"):
        backwards = np.concatenate([np.arange(A.indptr[i + 1] - 1, A.indptr[i] - 1, -1) for i in range(A.shape[0])])
        indptr, indices, data = A.indptr, A.indices[backwards], A.data[backwards]
        if make == "duplicates":
            indptr, indices, data = 2 * indptr, np.repeat(indices, 2), np.repeat(data, 2) / 2
        on_gpu = sparse.csr_matrix((cupy.asarray(data), cupy.asarray(indices), cupy.asarray(indptr)), shape=A.shape)
    else:  # values that do not begin where memory does
        data = cupy.empty(A.nnz + 1)
        data[1:] = on_gpu.data
        on_gpu = sparse.csr_matrix((data[1:], on_gpu.indices, on_gpu.indptr), shape=A.shape)
    w, v = eigsh(on_gpu, k=3, device="cuda")
    np.testing.assert_allclose(w, exact[:3], rtol=1e-12)


def memory_taken(cupy, A, **arguments):
    """Most device memory in use in the first iterations, beside what was before."""
    before = cupy.cuda.runtime.memGetInfo()[0]
    least = [before]
    with pytest.raises(NotConverged):
        eigsh(A, 2, device="cuda", maxiter=3, verify="residuals", preconditioner="none", tol=1e-13,
              options={"filtered_start": False},
              callback=lambda now: least.append(cupy.cuda.runtime.memGetInfo()[0]), progress=False, **arguments)
    return before - min(least)


@pytest.mark.gpu
def test_a_matrix_of_cupy_is_not_copied(cupy):
    import cupyx.scipy.sparse as sparse

    A, _ = laplacian(120, 120, 121)
    entries = A.nnz * (A.data.itemsize + A.indices.itemsize)
    on_gpu = sparse.csr_matrix(A)
    memory_taken(cupy, A)  # CUDA's own
    copied, in_place = memory_taken(cupy, A), memory_taken(cupy, on_gpu)
    print(f"entries {entries / 1e6:.0f} MB; taken {copied / 1e6:.0f} MB from the host, {in_place / 1e6:.0f} MB from CuPy")
    assert copied - in_place > 0.9 * entries
    assert abs(on_gpu - sparse.csr_matrix(A)).max() == 0.0


@pytest.mark.gpu
def test_vectors_of_cupy_are_not_fetched(cupy):
    """F and x0 of solve stay on the device, as x does."""
    import cupyx.scipy.sparse as sparse

    A, _ = laplacian(40, 41, 42)
    f = cupy.random.default_rng(0).standard_normal((A.shape[0], 5))
    on_gpu = sparse.csr_matrix(A)
    solved = solve(on_gpu, f, device="cuda")
    assert isinstance(solved.x, cupy.ndarray)
    assert float(cupy.linalg.norm(on_gpu @ solved.x - f) / cupy.linalg.norm(f)) < 1e-7
    again = solve(on_gpu, f, x0=solved.x, device="cuda")
    assert again.iterations <= 1


@pytest.mark.gpu
def test_tensors_of_torch(cupy):
    torch = pytest.importorskip("torch")
    import cupyx.scipy.sparse as sparse

    A, _ = laplacian(20, 21, 22)
    f = torch.ones((A.shape[0], 2), dtype=torch.float64, device="cuda")
    solved = solve(sparse.csr_matrix(A), f, device="cuda")
    x = torch.from_dlpack(solved.x)
    assert x.device == f.device and x.shape == f.shape
    assert np.linalg.norm(A @ x.cpu().numpy() - 1.0) < 1e-5
