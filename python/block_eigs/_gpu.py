"""Arrays on a GPU: CuPy's, and those of others that tell where they are."""

import numpy as np


def is_on_gpu(array):
    """Whether it is an array on a GPU, or a sparse matrix made of these."""
    return any(_tells_of_a_gpu(part) for part in (array, getattr(array, "data", None)))


def _tells_of_a_gpu(array):
    try:
        return hasattr(array, "__cuda_array_interface__")
    except RuntimeError:  # PyTorch's, of one whose gradient is asked for
        return True


def to_host(array):
    """An array or sparse matrix of a GPU copied to host memory; others as they are."""
    if not is_on_gpu(array):
        return array
    if hasattr(array, "get"):  # CuPy
        return array.get()
    if hasattr(array, "cpu"):  # PyTorch
        return array.detach().cpu().numpy()
    return np.asarray(array)  # JAX


def resident_entries(matrix, dtype):
    """Addresses of the column numbers and values of a CuPy CSR matrix in the form that the module works with, int32 and
    `dtype`, or None. Its memory is worked with where the rows turn out to be in order."""
    if not is_on_gpu(matrix) or getattr(matrix, "format", None) != "csr":
        return None
    indices, data = matrix.indices, matrix.data
    if indices.dtype != np.int32 or data.dtype != dtype:
        return None
    if not (indices.flags.c_contiguous and data.flags.c_contiguous):
        return None
    return indices.data.ptr, data.data.ptr


class GpuBlock:
    """A block of vectors on the GPU as C-contiguous doubles, made of an array of CuPy."""

    def __init__(self, array):
        import cupy

        self.array = cupy.ascontiguousarray(array, dtype=np.float64)
        self.shape = self.array.shape
        self.address = self.array.data.ptr
        self._on_host = None
        cupy.cuda.get_current_stream().synchronize()

    def fetch(self):
        """The address of a copy in host memory, which lives as long as this."""
        self._on_host = self.array.get()
        return self._on_host.ctypes.data


def as_cupy(array):
    """An array on a GPU as one of CuPy, sharing its memory; None where it is none, or there is no CuPy."""
    if not is_on_gpu(array):
        return None
    try:
        import cupy
    except ImportError:
        return None
    return cupy.asarray(array.detach() if hasattr(array, "detach") else array)


class GpuVectors:
    """Memory of CuPy's for the vectors of an answer."""

    def __init__(self, dtype):
        self.dtype = dtype
        self.array = None

    def place(self, rows, columns):
        """The address of memory for rows x columns, in which nobody works any more; 0 where the GPU has no more."""
        import cupy

        try:
            self.array = cupy.empty((rows, columns), dtype=self.dtype)
        except MemoryError:  # the run has its own still; take() asks again
            return 0
        cupy.cuda.get_current_stream().synchronize()
        return self.array.data.ptr

    def take(self, answer):
        """Makes the answer's vectors an array of CuPy, that of `place` where the module has used it."""
        import cupy

        vectors = answer["vectors"]
        used = self.array is not None and vectors.shape != self.array.shape
        answer["vectors"] = self.array if used else cupy.asarray(vectors)
