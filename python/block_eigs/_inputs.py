"""Matrices, operators and blocks of vectors of the caller as the module takes them."""

import numbers
import operator
import os

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from ._csr import by_rows, without_mask
from ._gpu import GpuBlock, resident_entries, shared_on_gpu, to_host


def real_type(dtype, name):
    """float32 or float64 for a NumPy type, or TypeError."""
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        raise TypeError(
            f"{name} is complex ({dtype}); only real symmetric matrices are supported. A Hermitian H = R + iS has the "
            "eigenvalues of the real [[R, -S], [S, R]], each twice"
        )
    if dtype.kind not in "fiub":
        raise TypeError(f"{name} holds {dtype}, not real numbers")
    return np.dtype(np.float32) if dtype.kind == "f" and dtype.itemsize <= 4 else np.dtype(np.float64)


def integer(value, name):
    """An int for any kind of integer, or TypeError."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None


def number(value, name):
    """A float for any kind of real number, or TypeError."""
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    return float(value)


def is_matrix(operand):
    return scipy.sparse.issparse(operand) or isinstance(operand, np.ndarray)


def is_function(operand):
    """Whether it multiplies blocks when it is called, and has no more to say."""
    more = any(hasattr(operand, name) for name in ("matmat", "__array__")) or _multiplies_vectors(operand)
    return callable(operand) and not more


def _multiplies_vectors(operand):
    """Whether it has shape and matvec, and no matmat."""
    return hasattr(operand, "shape") and hasattr(operand, "matvec") and not hasattr(operand, "matmat")


def as_operator(operand):
    """What multiplies vectors alone as a LinearOperator, as SciPy takes it; others as they are."""
    return aslinearoperator(operand) if _multiplies_vectors(operand) else operand


class _Function:
    """A function on blocks as an operator on `rows` own rows."""

    def __init__(self, function, rows, dtype):
        self.matmat = function
        self.shape = (rows, rows)
        self.dtype = np.dtype(dtype)


def as_operand(operand, name, rows=None, dtype=np.float64):
    """A SciPy sparse matrix, an ndarray of two dimensions, or an operator with shape, dtype and matmat. A function becomes one on
    the `rows` of this rank that are known from elsewhere, of type `dtype`; TypeError where none are."""
    operand = as_operator(to_host(operand))
    if scipy.sparse.issparse(operand):
        return operand
    if hasattr(operand, "shape") and hasattr(operand, "matmat"):
        if not hasattr(operand, "dtype"):
            raise TypeError(f"{name} has shape and matmat, but no dtype: give it one, such as numpy.float64")
        return operand
    if isinstance(operand, (str, os.PathLike)):
        raise TypeError(f"{name} must be a matrix, not the name of a file: read it first, by scipy.sparse.load_npz, say")
    if is_function(operand):
        if rows is None:
            raise TypeError(
                f"{name} is a function, and neither M nor v0 says of how many rows: give v0, or wrap it as "
                "scipy.sparse.linalg.LinearOperator(shape, matvec=..., matmat=..., dtype=...)"
            )
        return _Function(operand, rows, dtype)
    if hasattr(operand, "__dlpack__") and not isinstance(operand, np.ndarray):
        operand = np.from_dlpack(operand)
    operand = without_mask(operand, name)
    if operand.ndim != 2:
        raise ValueError(f"{name} must be a matrix, but has {operand.ndim} dimensions")
    return operand


def check_shape(operand, name, comm, rows):
    """Whether own rows of a square matrix of `rows` rows are there, or an operator on own rows."""
    own, columns = operand.shape
    if not is_matrix(operand):
        if own != columns:
            raise ValueError(f"{name} must be square, not {own} x {columns}")
    elif columns != rows:
        what = f"{own} x {columns}" if comm is None else f"{rows} x {columns} (rows of all ranks)"
        raise ValueError(f"{name} must be square, not {what}")


def csr_arrays(matrix, dtype, given=None):
    """(columns, indptr, indices, data, resident) of a sparse matrix or an ndarray; its memory where that is possible.

    `given` is what the caller handed in, which may have the same entries on a GPU.
    """
    dense = isinstance(matrix, np.ndarray)
    matrix = scipy.sparse.csr_matrix(matrix.astype(dtype)) if dense else by_rows(matrix, dtype)
    index = np.int32 if matrix.indices.dtype == np.int32 and matrix.indptr.dtype == np.int32 else np.int64
    indptr = np.ascontiguousarray(matrix.indptr, dtype=index)
    indices = np.ascontiguousarray(matrix.indices, dtype=index)
    data = np.ascontiguousarray(matrix.data, dtype=dtype)
    return matrix.shape[1], indptr, indices, data, resident_entries(given, dtype)


def _multiplication_by(given):
    """Of an operator, on blocks. One that multiplies vectors alone gets vectors: SciPy's own matmat would hand it columns of
    shape (n, 1), with which d * x is a matrix."""
    own = getattr(given, "_CustomLinearOperator__matmat_impl", given) is not None
    by_class = isinstance(given, LinearOperator) and type(given)._matmat is LinearOperator._matmat
    if own and not by_class:
        return given.matmat
    return lambda x: np.stack([np.asarray(given.matvec(x[:, j])).reshape(-1) for j in range(x.shape[1])], axis=1)


def function_of(given, name):
    """f(x, y) that fills y, from an operator with matmat, a matrix, or a function on blocks."""
    if hasattr(given, "matmat"):
        apply = _multiplication_by(given)
    elif is_matrix(given):
        apply = given.__matmul__
    else:
        apply = given

    def fill(x, y):
        if x.shape[1] == 0:
            return
        result = without_mask(to_host(apply(x)), f"what {name} returned")
        if result.shape != y.shape:
            raise ValueError(f"{name} returned an array of shape {result.shape} for one of shape {y.shape}")
        if result.dtype.kind not in "fiub":
            raise TypeError(f"{name} returned {result.dtype}, not real numbers")
        y[...] = result

    return fill


def block(vectors, name, rows=None):
    """C-contiguous doubles, rows x columns, of one vector or several side by side: an array, or a GpuBlock."""
    on_gpu = shared_on_gpu(vectors)
    vectors = to_host(vectors) if on_gpu is None else on_gpu.array
    if scipy.sparse.issparse(vectors):
        raise TypeError(f"{name} is sparse; blocks of vectors are dense here: hand in {name}.toarray()")
    if on_gpu is None:
        only_shared = hasattr(vectors, "__dlpack__") and not hasattr(vectors, "__array__")
        vectors = np.from_dlpack(vectors) if only_shared else without_mask(vectors, name)
    dtype = vectors.dtype if on_gpu is None else on_gpu.dtype
    if dtype.kind == "c":
        raise TypeError(
            f"{name} is complex ({dtype}); vectors are real here, where A is: hand in real and imaginary "
            "parts as columns side by side"
        )
    real_type(dtype, name)
    if vectors.ndim == 1:
        vectors = vectors.reshape(-1, 1)
    if vectors.ndim != 2:
        raise ValueError(f"{name} must have one or two dimensions, not {vectors.ndim}")
    if rows is not None and vectors.shape[0] != rows:
        raise ValueError(f"{name} has {vectors.shape[0]} rows, but there are {rows}")
    return np.ascontiguousarray(vectors, dtype=np.float64) if on_gpu is None else GpuBlock(type(on_gpu)(vectors))
