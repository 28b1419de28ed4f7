"""Tensors of PyTorch: in host memory, and on a GPU where there is one."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import laplacian
from test_gpu import memory_taken

from block_eigs import NotConverged, eigsh, solve

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:Sparse .*:UserWarning")


def tensor_of(A, layout="csr", index=np.int64, device="cpu", dtype=np.float64):
    """A SciPy matrix as a sparse tensor."""
    A = A.astype(dtype)
    if layout == "dense":
        return torch.from_numpy(A.toarray()).to(device)
    if layout == "coo":
        A = A.tocoo()
        places = torch.from_numpy(np.vstack([A.row, A.col]).astype(np.int64))
        return torch.sparse_coo_tensor(places, torch.from_numpy(A.data), A.shape).to(device)
    A = A.asformat(layout)
    make = torch.sparse_csr_tensor if layout == "csr" else torch.sparse_csc_tensor
    parts = (torch.from_numpy(part.astype(index)) for part in (A.indptr, A.indices))
    return make(*parts, torch.from_numpy(A.data), size=A.shape).to(device)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "dense"])
def test_matrices(layout, index):
    A, exact = laplacian(9, 10)
    w, v = eigsh(tensor_of(A, layout, index), k=3, device="host")
    np.testing.assert_allclose(w, exact[:3], rtol=1e-12)
    assert isinstance(w, np.ndarray)
    assert isinstance(v, torch.Tensor) and v.shape == (90, 3) and v.dtype == torch.float64 and v.device.type == "cpu"
    assert np.linalg.norm(A @ v.numpy() - v.numpy() * w) < 1e-6


def test_float_largest_and_mass():
    """The order of LA is turned round; a mass matrix may be of another kind."""
    A, exact = laplacian(12, 13)
    w, v = eigsh(tensor_of(A, dtype=np.float32), k=3, which="LA", device="host")
    np.testing.assert_allclose(w, exact[-3:], rtol=1e-5)
    assert v.dtype == torch.float32
    assert float(torch.linalg.norm(tensor_of(A) @ v.double() - v.double() * torch.from_numpy(w).double())) < 1e-3
    M = 2.0 * sp.eye(A.shape[0], format="csr")
    for given in (M, tensor_of(M), tensor_of(M, "coo")):
        w, v = eigsh(tensor_of(A), k=3, M=given, device="host")
        np.testing.assert_allclose(w, exact[:3] / 2, rtol=1e-12)


def test_duplicates_are_summed():
    A, exact = laplacian(9, 10)
    whole = A.tocoo()
    places = torch.from_numpy(np.hstack([np.vstack([whole.row, whole.col])] * 2).astype(np.int64))
    halves = torch.from_numpy(np.concatenate([whole.data / 4, 3 * whole.data / 4]))
    w, _ = eigsh(torch.sparse_coo_tensor(places, halves, A.shape), k=3, device="host")
    np.testing.assert_allclose(w, exact[:3], rtol=1e-12)


def test_duplicates_of_small_integers_are_summed_in_double():
    ones, places = torch.ones(302, dtype=torch.uint8), torch.tensor([[0] * 300 + [1, 2]] * 2)
    w, _ = eigsh(torch.sparse_coo_tensor(places, ones, (3, 3)), k=1, which="LA", device="host")
    np.testing.assert_array_equal(w, [300])


def test_nothing_of_the_caller_changes():
    A, _ = laplacian(9, 10)
    tensor, before = tensor_of(A, index=np.int32), tensor_of(A, index=np.int32)
    f = torch.ones(90, dtype=torch.float64, requires_grad=True)
    solved = solve(tensor, f, device="host")
    for part in ("crow_indices", "col_indices", "values"):
        assert torch.equal(getattr(tensor, part)(), getattr(before, part)())
    assert solved.x.shape == f.shape and not solved.x.requires_grad
    assert float(torch.linalg.norm(tensor @ solved.x - 1.0)) < 1e-6


def test_vectors():
    """Tensors beside a matrix of SciPy's, whose vectors are NumPy's."""
    A, exact = laplacian(9, 10)
    w, v = eigsh(A, k=2, device="host")
    again = eigsh(A, k=2, v0=torch.from_numpy(v.copy()), constraints=torch.from_numpy(v[:, 0].copy()), device="host")
    np.testing.assert_allclose(again.eigenvalues, exact[1:3], rtol=1e-12)
    solved = solve(A, torch.ones((90, 2), dtype=torch.float32), x0=torch.zeros(90, 2), device="host")
    assert isinstance(solved.x, np.ndarray)
    assert np.linalg.norm(A @ solved.x - 1.0) < 1e-6
    halves = solve(tensor_of(A), torch.ones(90, dtype=torch.bfloat16), device="host")
    assert float(torch.linalg.norm(tensor_of(A) @ halves.x - 1.0)) < 1e-6


def test_arrays_by_dlpack_alone():
    class Shared:
        def __init__(self, array):
            self.array = array
            self.shape = array.shape

        def __dlpack__(self, **arguments):
            return self.array.__dlpack__(**arguments)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    A, exact = laplacian(9, 10)
    solved = solve(A, Shared(np.ones((90, 2))), device="host")
    assert np.linalg.norm(A @ solved.x - 1.0) < 1e-6
    w, _ = eigsh(Shared(A.toarray()), k=2, v0=Shared(torch.ones(90, dtype=torch.float64)), device="host")
    np.testing.assert_allclose(w, exact[:2], rtol=1e-12)


def test_a_preconditioner():
    A, exact = laplacian(9, 10)
    w, v = eigsh(tensor_of(A), k=2, preconditioner=tensor_of(sp.diags(1.0 / A.diagonal(), format="csr")), device="host")
    np.testing.assert_allclose(w, exact[:2], rtol=1e-12)


def test_not_converged():
    A, _ = laplacian(20, 21)
    with pytest.raises(NotConverged) as caught:
        eigsh(tensor_of(A), k=4, maxiter=1, tol=1e-14, preconditioner="none", device="host",
              options={"filtered_start": False, "dense_up_to": 0})
    assert isinstance(caught.value.result.eigenvectors, torch.Tensor)
    assert isinstance(caught.value.eigenvectors, torch.Tensor)


def test_what_cannot_be_solved():
    A, _ = laplacian(9, 10)
    with pytest.raises(TypeError, match="complex"):
        eigsh(tensor_of(A, dtype=np.complex128), k=2)
    with pytest.raises(TypeError, match="complex"):
        solve(A, torch.ones(90, dtype=torch.complex64))
    with pytest.raises(TypeError, match="sparse"):
        solve(A, tensor_of(A))
    with pytest.raises(ValueError, match="dimensions"):
        eigsh(torch.zeros(3, 3, 3), k=2)
    with pytest.raises(ValueError, match="rows"):
        solve(A, torch.ones(91))
    lower = sp.csr_matrix(np.tril(A.toarray()))
    with pytest.raises(ValueError, match="symmetric"):
        eigsh(tensor_of(lower), k=2, device="host")


def test_torch_is_not_imported():
    """By who does not use it."""
    code = (
        "import sys, numpy, scipy.sparse as sp; from block_eigs import eigsh;"
        "eigsh(sp.diags([2.0] * 60, format='csr') - sp.eye(60, k=1) - sp.eye(60, k=-1), k=2, device='host');"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture
def gpu():
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    return torch.device("cuda", torch.cuda.current_device())


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("which", ["SA", "LA"])
def test_on_a_gpu(gpu, dtype, which):
    A, exact = laplacian(20, 21, 22)
    exact = exact[:4] if which == "SA" else exact[-4:]
    double = dtype == np.float64
    on_gpu = tensor_of(A, index=np.int32, device=gpu, dtype=dtype)
    w, v = eigsh(on_gpu, k=4, which=which, device="cuda")
    np.testing.assert_allclose(w, exact, rtol=1e-12 if double else 1e-5)
    assert v.device == gpu and v.dtype == on_gpu.dtype
    assert float((v.T @ v - torch.eye(4, device=gpu)).abs().max()) < (1e-10 if double else 1e-4)
    assert float(torch.linalg.norm(on_gpu @ v - v * torch.from_numpy(w).to(gpu))) < (1e-6 if double else 1e-2)


@pytest.mark.gpu
@pytest.mark.parametrize("make", ["csc", "coo", "dense", "int64", "unsorted", "duplicates", "slice"])
def test_other_forms_on_a_gpu_are_copied(gpu, make):
    A, exact = laplacian(15, 16, 17)
    if make in ("csc", "coo", "dense"):
        on_gpu = tensor_of(A, make, device=gpu)
    elif make == "int64":
        on_gpu = tensor_of(A, device=gpu)
    else:
        indptr, indices, data = A.indptr, A.indices, A.data
        if make != "slice":
            backwards = np.concatenate([np.arange(indptr[i + 1] - 1, indptr[i] - 1, -1) for i in range(A.shape[0])])
            indices, data = indices[backwards], data[backwards]
        if make == "duplicates":
            indptr, indices, data = 2 * indptr, np.repeat(indices, 2), np.repeat(data, 2) / 2
        parts = [torch.from_numpy(part.astype(np.int32)).to(gpu) for part in (indptr, indices)]
        values = torch.from_numpy(np.concatenate([[0.0], data])).to(gpu)[1:]
        on_gpu = torch.sparse_csr_tensor(*parts, values, size=A.shape, check_invariants=False)
    w, v = eigsh(on_gpu, k=3, device="cuda")
    np.testing.assert_allclose(w, exact[:3], rtol=1e-12)
    assert v.device == gpu


class _Memory:
    """What memory_taken asks of CuPy."""

    class cuda:
        class runtime:
            memGetInfo = staticmethod(lambda: torch.cuda.mem_get_info())


@pytest.mark.gpu
def test_a_matrix_on_a_gpu_is_not_copied(gpu):
    A, _ = laplacian(120, 120, 121)
    entries = A.nnz * (A.data.itemsize + A.indices.itemsize)
    on_gpu = tensor_of(A, index=np.int32, device=gpu)
    memory_taken(_Memory, A)  # CUDA's own
    copied, in_place = memory_taken(_Memory, A), memory_taken(_Memory, on_gpu)
    print(f"entries {entries / 1e6:.0f} MB; taken {copied / 1e6:.0f} MB from the host, {in_place / 1e6:.0f} MB from PyTorch")
    assert copied - in_place > 0.9 * entries
    assert torch.equal(on_gpu.values().cpu(), torch.from_numpy(A.data))


@pytest.mark.gpu
@pytest.mark.parametrize("has_cupy", [True, False])
def test_vectors_on_a_gpu_are_not_fetched(gpu, has_cupy, monkeypatch):
    """With and without CuPy, which tensors have no need of."""
    if not has_cupy:
        monkeypatch.setitem(sys.modules, "cupy", None)
    A, exact = laplacian(40, 41, 42)
    on_gpu = tensor_of(A, index=np.int32, device=gpu)
    f = torch.randn((A.shape[0], 5), dtype=torch.float64, device=gpu)
    monkeypatch.setattr(torch.Tensor, "numpy", _host_copies_of(on_gpu, torch.Tensor.numpy))
    solved = solve(on_gpu, f, device="cuda")
    assert solved.x.device == gpu
    assert float(torch.linalg.norm(on_gpu @ solved.x - f) / torch.linalg.norm(f)) < 1e-7
    again = solve(on_gpu, f, x0=solved.x, device="cuda")
    assert again.iterations <= 1


def _host_copies_of(matrix, original):
    """In place of Tensor.numpy: fails for tensors on the GPU that are no part of the matrix."""
    allowed = {part.data_ptr() for part in (matrix.crow_indices(), matrix.col_indices(), matrix.values())}

    def numpy(tensor, **arguments):
        assert not tensor.is_cuda or tensor.data_ptr() in allowed
        return original(tensor, **arguments)

    return numpy


@pytest.mark.gpu
@pytest.mark.parametrize("what", ["F", "v0", "A"])
def test_streams(gpu, what):
    """What a side stream is still at work on is waited for, and results may be used on it at once."""
    A, exact = laplacian(30, 31, 32)
    n = A.shape[0]
    matrix = tensor_of(A, index=np.int32, device=gpu)
    values = matrix.values().clone()
    ones = torch.ones((n, 2), dtype=torch.float64, device=gpu)
    eigsh(matrix, k=2, device="cuda")  # loads what is loaded once
    torch.cuda.synchronize()
    side = torch.cuda.Stream(gpu)
    with torch.cuda.stream(side):
        late = torch.full_like(ones, float("nan"))
        if what == "A":
            matrix.values().fill_(float("nan"))
        torch.cuda._sleep(400_000_000)  # some 0.2 s, after which the numbers are there
        if what == "A":
            matrix.values().copy_(values)
        late.copy_(ones)
        if what == "F":
            x = solve(matrix, late, device="cuda").x
            residual = matrix @ x - ones
            assert float(torch.linalg.norm(residual)) < 1e-5
        else:
            w, v = eigsh(matrix, k=2, v0=late if what == "v0" else None, device="cuda")
            np.testing.assert_allclose(w, exact[:2], rtol=1e-12)
            assert float(torch.linalg.norm(matrix @ v - v * torch.from_numpy(w).to(gpu))) < 1e-6
