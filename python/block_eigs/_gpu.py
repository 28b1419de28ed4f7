"""Arrays on a GPU: CuPy's, and those of others that tell where they are."""

import numpy as np


def is_on_gpu(array):
    """Whether it is an array on a GPU, or a sparse matrix made of these."""
    return any(hasattr(part, "__cuda_array_interface__") for part in (array, getattr(array, "data", None)))


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


class GpuVectors:
    """Memory of CuPy's for the vectors of an answer."""

    def __init__(self, dtype):
        self.dtype = dtype
        self.array = None

    def place(self, rows, columns):
        """The address of memory for rows x columns, in which nobody works any more."""
        import cupy

        self.array = cupy.empty((rows, columns), dtype=self.dtype)
        cupy.cuda.get_current_stream().synchronize()
        return self.array.data.ptr

    def take(self, answer):
        """Makes the answer's vectors an array of CuPy, that of `place` where the module has used it."""
        import cupy

        vectors = answer["vectors"]
        used = self.array is not None and vectors.shape != self.array.shape
        answer["vectors"] = self.array if used else cupy.asarray(vectors)
