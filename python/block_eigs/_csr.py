"""Sparse matrices by rows, in the type that is worked with."""

import numpy as np
import scipy.sparse


def by_rows(matrix, dtype):
    """A sparse matrix in CSR format, itself where it is in that. What is summed on the way is summed as `dtype`: SciPy sums
    duplicates of small integers modulo their range, in astype too."""
    if matrix.format in ("coo", "bsr") and matrix.dtype != dtype:
        entries = matrix.tocoo()
        matrix = scipy.sparse.coo_matrix((entries.data.astype(dtype), (entries.row, entries.col)), shape=matrix.shape)
    return matrix.tocsr()


def csr_matrix_of(matrix, dtype):
    """A sparse matrix or an ndarray as csr_matrix of `dtype`, in the memory of the caller's where that is possible."""
    if not scipy.sparse.issparse(matrix):
        return scipy.sparse.csr_matrix(matrix.astype(dtype))
    rows = by_rows(matrix, dtype)
    return scipy.sparse.csr_matrix((rows.data.astype(dtype, copy=False), rows.indices, rows.indptr), shape=rows.shape)


def without_mask(values, name):
    """As an ndarray; what is masked stands for nothing that could be computed with."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked entries: fill them first, {name}.filled(0), say")
    return np.asarray(values)
