"""Matrices in the formats that block-eigs and block-solve read (docs/formats.md)."""

import os
import tempfile

import h5py
import numpy as np
import scipy.sparse as sp

from block_eigs._csr import csr_matrix_of, without_mask

__all__ = ["check_matrix", "write_matrix"]


def write_matrix(path, A, dataset="A", *, check=True, compression=None, append=False):
    """Writes a SciPy sparse matrix or array, or a dense one, so that block-eigs and block-solve read it.

    The name decides the format: .npz (scipy.sparse.save_npz), .mtx or .mtx.gz (Matrix Market), anything else HDF5
    with the group `dataset` in the layout of AnnData. HDF5 without compression is what many ranks read fastest.
    `append` puts the group into an HDF5 file that is there already, in place of one of its name: K and M in one file.

    With `check` the matrix must be square, symmetric to 1e-10 of each row's norm, real and finite, as the programs
    want it: ValueError or TypeError says what is wrong. The file appears whole or not at all, with `append` apart."""
    path = os.fspath(path)
    a = _as_csr(A)
    if check:
        check_matrix(a)
    lower = path.lower()
    hdf5 = not lower.endswith((".npz", ".mtx", ".mtx.gz"))
    if append and not hdf5:
        raise ValueError(f"{path}: append is for HDF5 files")
    if not hdf5 and compression not in (None, False):
        raise ValueError(f"{path}: compression is for HDF5 files")
    if append and os.path.exists(path):
        with h5py.File(path, "a") as file:
            if dataset in file:
                del file[dataset]
            _write_group(file, dataset, a, compression)
        return
    folder = os.path.dirname(os.path.abspath(path))
    suffix = ".mtx.gz" if lower.endswith(".gz") else os.path.splitext(path)[1]
    try:
        handle, partial = tempfile.mkstemp(prefix=os.path.basename(path) + ".partial-", suffix=suffix, dir=folder)
    except OSError as error:  # of the file that was asked for, not of one that nobody knows of
        raise type(error)(error.errno, error.strerror, path) from None
    os.close(handle)
    try:
        if hdf5:
            with h5py.File(partial, "w") as file:
                _write_group(file, dataset, a, compression)
        elif lower.endswith(".npz"):
            with open(partial, "wb") as file:  # by its name NumPy would write to another one, unless that ends in .npz
                sp.save_npz(file, a)
        else:
            _write_matrix_market(partial, a)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(partial, 0o666 & ~mask)
        os.replace(partial, path)
    except BaseException:
        if os.path.exists(partial):
            os.remove(partial)
        raise


def check_matrix(a):
    """Raises TypeError or ValueError unless the CSR matrix is square, real, finite and symmetric."""
    if a.shape[0] != a.shape[1]:
        raise ValueError(f"the matrix is not square: {a.shape[0]} x {a.shape[1]}")
    if not np.isfinite(a.data).all():
        row = int(np.searchsorted(a.indptr, np.flatnonzero(~np.isfinite(a.data))[0], side="right")) - 1
        raise ValueError(f"the matrix has an entry that is not finite, in row {row} (from 0)")
    difference = abs(a - a.T).tocoo()
    if difference.nnz == 0:
        return
    norms = np.asarray(abs(a).sum(axis=1)).ravel()
    limit = 1e-10 * np.maximum(norms[difference.row], norms[difference.col])
    worst = int(np.argmax(difference.data - limit))
    if difference.data[worst] > limit[worst]:
        i, j = int(difference.row[worst]), int(difference.col[worst])
        advice = "(A + A.T) / 2 removes rounding"
        if sp.triu(a, 1).nnz == 0 or sp.tril(a, -1).nnz == 0:
            advice = "only one triangle is there: A + A.T - scipy.sparse.diags(A.diagonal()) makes it whole"
        raise ValueError(f"the matrix is not symmetric: A[{i}, {j}] = {a[i, j]:g}, A[{j}, {i}] = {a[j, i]:g}; {advice}")


def _as_csr(matrix):
    """Real CSR, sorted, duplicates summed; a copy where something has to be changed."""
    if not sp.issparse(matrix):
        matrix = without_mask(matrix, "A")
        if matrix.ndim != 2:
            raise TypeError(f"A must be a sparse or dense matrix, not an array of {matrix.ndim} dimensions")
    if matrix.dtype.kind == "c":
        raise TypeError("the matrix is complex; block-eigs works with real symmetric matrices")
    if matrix.dtype.kind not in "fiub":
        raise TypeError(f"the matrix has entries of type {matrix.dtype}, which are no real numbers")
    a = csr_matrix_of(matrix, np.float32 if matrix.dtype == np.float32 else np.float64)
    if not a.has_canonical_format:
        a = a.copy()
        a.sum_duplicates()
    return a


def _write_group(file, name, a, compression):
    group = file.create_group(name)
    group.attrs["encoding-type"], group.attrs["encoding-version"] = "csr_matrix", "0.1.0"
    group.attrs["shape"] = np.array(a.shape, dtype=np.int64)
    group.create_dataset("data", data=a.data, compression=compression)
    small = max(a.shape[1], a.nnz) < 2**31
    for key, values in (("indices", a.indices), ("indptr", a.indptr)):
        group.create_dataset(
            key, data=values.astype(np.int32 if small else np.int64, copy=False), compression=compression
        )


def _write_matrix_market(path, a):
    """One triangle where the matrix is symmetric to the last bit, all of it elsewhere."""
    import gzip

    symmetric = a.shape[0] == a.shape[1] and (a != a.T).nnz == 0
    b = (sp.tril(a) if symmetric else a).tocoo()
    opened = gzip.open(path, "wt", encoding="ascii") if path.endswith(".gz") else open(path, "w", encoding="ascii")
    with opened as file:
        file.write(f"%%MatrixMarket matrix coordinate real {'symmetric' if symmetric else 'general'}\n")
        file.write(f"{a.shape[0]} {a.shape[1]} {b.nnz}\n")
        np.savetxt(file, np.rec.fromarrays([b.row + 1, b.col + 1, b.data.astype(float)]), fmt="%d %d %.17g")
