"""Arrays of other libraries on a GPU: CuPy's, PyTorch's, and those that share memory by DLPack or
`__cuda_array_interface__`."""

import sys

import numpy as np

from ._torch import OfTorch, is_dense, is_tensor, resident_in_tensor, tensor_to_host

_CUDA = (2, 13)  # kDLCUDA and kDLCUDAManaged of DLPack


def is_on_gpu(array):
    """Whether it is an array on a GPU, or a sparse matrix made of these."""
    if is_tensor(array):
        return array.is_cuda
    return any(_tells_of_a_gpu(part) for part in (array, getattr(array, "data", None)))


def _tells_of_a_gpu(array):
    if hasattr(array, "__cuda_array_interface__"):
        return True
    return hasattr(array, "__dlpack_device__") and array.__dlpack_device__()[0] in _CUDA


def to_host(array):
    """An array or sparse matrix of a GPU copied to host memory, and what is PyTorch's as NumPy's or SciPy's, in its memory
    where that is the host's; others as they are."""
    if is_tensor(array):
        return tensor_to_host(array)
    if not is_on_gpu(array):
        return array
    if hasattr(array, "get"):  # CuPy
        return array.get()
    if hasattr(array, "__array__"):  # JAX
        return np.asarray(array)
    if hasattr(array, "cpu"):  # what looks like PyTorch's
        return array.detach().cpu().numpy()
    shared = shared_on_gpu(array)
    if shared is None:
        raise TypeError(f"{type(array).__name__} is on a GPU: to take it from there CuPy or PyTorch is needed")
    return shared.to_host()


def resident_entries(matrix, dtype):
    """Addresses of the column numbers and values of a CSR matrix of CuPy or PyTorch on a GPU in the form that the module
    works with, int32 and `dtype`, or None. Its memory is worked with where the rows turn out to be in order."""
    if not is_on_gpu(matrix):
        return None
    if is_tensor(matrix):
        return resident_in_tensor(matrix, dtype)
    if getattr(matrix, "format", None) != "csr":
        return None
    indices, data = matrix.indices, matrix.data
    if indices.dtype != np.int32 or data.dtype != dtype:
        return None
    if not (indices.flags.c_contiguous and data.flags.c_contiguous):
        return None
    return indices.data.ptr, data.data.ptr


class OfCupy:
    """An array of CuPy, by what is asked of arrays on a GPU. What is done to it goes into CuPy's current stream."""

    def __init__(self, array):
        self.array = array

    @property
    def dtype(self):
        return self.array.dtype

    def doubles(self):
        import cupy

        return OfCupy(cupy.ascontiguousarray(self.array, dtype=np.float64))

    def address(self):
        return self.array.data.ptr

    def to_host(self):
        return self.array.get()

    def like(self, host):
        """What is in host memory as an array of this kind."""
        import cupy

        return cupy.asarray(host)

    def empty(self, shape, dtype):
        """Memory beside it, or None where there is no more."""
        import cupy

        try:
            return OfCupy(cupy.empty(shape, dtype=dtype))
        except MemoryError:
            return None

    def wait(self):
        """Until nobody works in its memory any more, nor in what that was before."""
        import cupy

        cupy.cuda.get_current_stream().synchronize()


def shared_on_gpu(array):
    """An array on a GPU as OfTorch, or as OfCupy that shares its memory; None where it is none, or there is no library for
    it."""
    if not is_on_gpu(array):
        return None
    if is_tensor(array):
        return OfTorch(array.detach()) if is_dense(array) else None
    try:
        import cupy
    except ImportError:
        torch = sys.modules.get("torch")
        known = hasattr(torch, "from_dlpack") and hasattr(array, "__dlpack__")
        return OfTorch(torch.from_dlpack(array)) if known else None
    if hasattr(array, "__cuda_array_interface__"):
        return OfCupy(cupy.asarray(array))
    return OfCupy(cupy.from_dlpack(array))


class GpuBlock:
    """A block of vectors on the GPU as C-contiguous doubles."""

    def __init__(self, vectors):
        self._vectors = vectors.doubles()
        self.shape = tuple(self._vectors.array.shape)
        self.address = self._vectors.address()
        self._on_host = None
        self._vectors.wait()

    def fetch(self):
        """The address of a copy in host memory, which lives as long as this."""
        self._on_host = self._vectors.to_host()
        return self._on_host.ctypes.data


class VectorsLike:
    """Memory for the vectors of an answer, of the library that the matrix is of, and where the matrix is."""

    def __init__(self, kind, on_gpu, dtype):
        self._kind = kind
        self._on_gpu = on_gpu
        self._dtype = np.dtype(dtype)
        self._place = None

    def place(self, rows, columns):
        """The address of memory for rows x columns, in which nobody works any more; 0 where the matrix is in host memory, or
        the GPU has no more."""
        if not self._on_gpu:
            return 0
        self._place = self._kind.empty((rows, columns), self._dtype)
        if self._place is None:  # the run has its own still; take() asks again
            return 0
        self._place.wait()
        return self._place.address()

    def take(self, answer):
        """Makes the answer's vectors an array of the library, that of `place` where the module has used it."""
        vectors = answer["vectors"]
        used = self._place is not None and tuple(vectors.shape) != tuple(self._place.array.shape)
        answer["vectors"] = self._place.array if used else self._kind.like(vectors)


def vectors_like(matrix, dtype):
    """VectorsLike the matrix, or None where vectors are NumPy's."""
    if is_tensor(matrix):
        return VectorsLike(OfTorch(matrix), is_on_gpu(matrix), dtype)
    if not is_on_gpu(matrix):
        return None
    try:
        import cupy  # noqa: F401
    except ImportError:
        return None
    return VectorsLike(OfCupy(matrix), True, dtype)


def columns_backwards(vectors):
    """C-contiguous, in the memory that they are in where that is NumPy's or CuPy's."""
    backwards = vectors.flip(1) if is_tensor(vectors) else _turned_round(vectors)
    on_gpu = shared_on_gpu(backwards)
    if on_gpu is not None:
        on_gpu.wait()
    return backwards


def _turned_round(vectors):
    half = vectors.shape[1] // 2
    if half > 0:
        first = vectors[:, :half].copy()
        vectors[:, :half] = vectors[:, -half:][:, ::-1]
        vectors[:, -half:] = first[:, ::-1]
    return vectors
