"""Files of the programs block-eigs and block-solve: results read, matrices written (docs/formats.md)."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field

import h5py
import numpy as np
import scipy.sparse as sp

from block_eigs.limits import limits_of_pairs, limits_of_solutions, tolerance_of

__all__ = ["FileError", "Result", "read_result", "write_matrix"]


class FileError(ValueError):
    """A file is not what it is taken for; one sentence that names it."""


@dataclass
class History:
    """A row an iteration; `residual_norms` and `eigenvalues` have a column a pair or right-hand side."""

    residual_norms: np.ndarray
    seconds: np.ndarray
    active_columns: np.ndarray
    products: np.ndarray  # columns multiplied with A
    in_float: np.ndarray  # bool
    eigenvalues: np.ndarray | None = None  # of an eigensolve

    def __len__(self):
        return len(self.residual_norms)


@dataclass
class Choice:
    """A preconditioner, and the number of iterations that were done when it began."""

    first_iteration: int
    description: str


@dataclass
class Phase:
    """Seconds of a part of the work: the mean over ranks and the rank that took most."""

    name: str
    mean: float
    slowest: float


@dataclass
class Proof:
    """What was done to know that no pair was missed."""

    made: str
    statement: str = ""
    confidence: float = np.nan
    smallest_gap: float = np.nan
    shift: float = np.nan
    counted: int = -1
    recovered: int = 0
    missing: int = 0
    seconds: float = 0.0


@dataclass
class Memory:
    """Peaks in bytes of the rank that took most, beside what was predicted; 0 for a GPU where there is none."""

    host: float
    host_predicted: float
    gpu: float = 0.0
    gpu_predicted: float = 0.0


@dataclass
class Result:
    """What a run left in its result file. Arrays have an entry a pair or right-hand side; what the file does not
    hold, because an older version wrote it, is None or empty. The vectors stay in the file until asked for."""

    path: str
    kind: str  # "eigen" or "linear"
    attributes: dict
    residual_norms: np.ndarray
    converged: np.ndarray
    status: np.ndarray  # of str: converged, at_accuracy_limit, not_converged
    eigenvalues: np.ndarray | None = None
    error_bounds: np.ndarray | None = None
    bounds: str = ""  # what they rest on: rigorous, probable, unknown
    attained_tolerances: np.ndarray | None = None
    requested_tolerance: float | None = None
    rhs_norms: np.ndarray | None = None
    recursive_residual_norms: np.ndarray | None = None
    iterations: np.ndarray | None = None  # of each right-hand side
    history: History | None = None
    preconditioners: list = field(default_factory=list)  # of Choice
    chosen: bool = False  # by the program
    preconditioner_made: str = ""
    times: list = field(default_factory=list)  # of Phase; the last two are "other" and "all"
    memory: Memory | None = None
    proof: Proof | None = None

    @property
    def config(self):
        """The resolved config as YAML: a run with it is the same run."""
        return self.attributes.get("config", "")

    @property
    def vectors_name(self):
        return "eigenvectors" if self.kind == "eigen" else "solution"

    def vectors(self, columns=slice(None)):
        """Eigenvectors or solutions, [n, k], read from the file now; `columns` as in NumPy: 3, [0, 2], slice(4)."""
        with _opened(self.path) as file:
            if self.vectors_name not in file:
                raise FileError(f"{self.path}: it holds no {self.vectors_name} (the run had output.eigenvectors: false)")
            return _read(self.path, file[self.vectors_name], (slice(None), columns))

    @property
    def eigenvectors(self):
        if self.kind != "eigen":
            raise AttributeError("a result of block-solve has no eigenvectors; it has a solution")
        return self.vectors()

    @property
    def solution(self):
        if self.kind != "linear":
            raise AttributeError("a result of block-eigs has no solution; it has eigenvectors")
        return self.vectors()

    def __iter__(self):
        """w, v = read_result("result.h5")"""
        if self.kind != "eigen":
            raise TypeError("a result of block-solve does not unpack; take its solution")
        return iter((self.eigenvalues, self.eigenvectors))

    def limits(self):
        """What each residual norm has to come down to, or None where that is not known."""
        if self.requested_tolerance is None:
            return None
        if self.kind == "linear":
            return limits_of_solutions(self.rhs_norms, self.requested_tolerance)
        return limits_of_pairs(self.residual_norms, self.attained_tolerances, self.requested_tolerance)

    def plot(self, axes=None):
        """Pictures of the run; needs matplotlib. Returns the figure."""
        from block_eigs.pictures import plot_run
        return plot_run(self, axes)


def read_result(path):
    """The result that block-eigs or block-solve wrote to `path`, its vectors apart: these are read when asked for.

    Raises FileNotFoundError, or FileError where the file is none of theirs or is damaged."""
    path = os.fspath(path)
    with _opened(path) as file:
        if "eigenvalues" in file:
            kind = "eigen"
        elif "recursive_residual_norms" in file or "solution" in file:
            kind = "linear"
        else:
            found = ", ".join(sorted(file)[:6]) or "nothing"
            raise FileError(f"{path}: not a result of block-eigs or block-solve: it holds neither eigenvalues nor "
                            f"solution, but {found}")
        return _result(path, file, kind)


def _result(path, file, kind):
    get = _Reader(path, file)
    result = Result(path, kind, get.attributes("/"), residual_norms=get("residual_norms"),
                    converged=get("converged").astype(bool), status=get.text("status"))
    count = len(result.residual_norms)
    if kind == "eigen":
        result.eigenvalues = get("eigenvalues", count)
        result.error_bounds = get.optional("error_bounds", count)
        result.bounds = get.attributes("error_bounds").get("kind", "")
        result.attained_tolerances = get.optional("attained_tolerances", count)
        result.requested_tolerance = get.attributes("attained_tolerances").get("requested")
        result.proof = _proof(result.attributes)
    else:
        result.rhs_norms = get("rhs_norms", count)
        result.recursive_residual_norms = get.optional("recursive_residual_norms", count)
        result.iterations = get.optional("iterations", count)
        result.requested_tolerance = tolerance_of(result.config, "linear_solver")
    for name in ("converged", "status"):
        if len(getattr(result, name)) != count:
            raise FileError(f"{path}: {name} has {len(getattr(result, name))} entries, residual_norms has {count}")
    result.history = _history(get, file)
    if "preconditioners/description" in file:
        result.preconditioners = [Choice(int(first), text) for first, text in
                                  zip(get("preconditioners/first_iteration"), get.text("preconditioners/description"))]
        about = get.attributes("preconditioners")
        result.chosen, result.preconditioner_made = bool(about.get("chosen", False)), about.get("made", "")
    if "times/phase" in file:
        result.times = [Phase(name, float(mean), float(slowest)) for name, mean, slowest in
                        zip(get.text("times/phase"), get("times/mean"), get("times/slowest"))]
    if "memory" in result.attributes:
        result.memory = Memory(*(float(result.attributes.get(name, 0.0)) for name in
                                 ("memory", "memory_predicted", "gpu_memory", "gpu_memory_predicted")))
    return result


def _history(get, file):
    if "history/residual_norms" not in file:
        return None
    residuals = get("history/residual_norms")
    if residuals.ndim != 2:
        raise FileError(f"{get.path}: history/residual_norms has {residuals.ndim} dimensions instead of 2")
    rows = len(residuals)
    active = get.optional("history/active_columns", rows)
    active = np.zeros(rows, int) if active is None else active
    products, in_float = get.optional("history/products", rows), get.optional("history/in_float", rows)
    seconds = get.optional("history/seconds", rows)
    return History(residuals, np.full(rows, np.nan) if seconds is None else seconds, active,
                   active if products is None else products,
                   np.zeros(rows, bool) if in_float is None else in_float.astype(bool),
                   get.optional("history/eigenvalues", rows))


def _proof(attributes):
    if "proof" not in attributes:
        return None
    names = [name for name in Proof.__dataclass_fields__ if "proof_" + name in attributes]
    return Proof(attributes["proof"], **{name: attributes["proof_" + name] for name in names})


class _Reader:
    """Datasets of a file by name; what is missing or of another length is a FileError."""

    def __init__(self, path, file):
        self.path, self.file = path, file

    def __call__(self, name, length=None):
        if not isinstance(self.file.get(name), h5py.Dataset):
            raise FileError(f"{self.path}: damaged, or not a result of block-eigs or block-solve: it has no {name}")
        values = _read(self.path, self.file[name])
        if length is not None and len(values) != length:
            raise FileError(f"{self.path}: {name} has {len(values)} entries instead of {length}")
        return values

    def optional(self, name, length=None):
        return self(name, length) if name in self.file else None

    def text(self, name):
        return np.array([_text(value) for value in self(name)])

    def attributes(self, name):
        if name not in self.file:
            return {}
        try:
            return {key: _plain(value) for key, value in self.file[name].attrs.items()}
        except (OSError, RuntimeError, KeyError) as error:
            raise FileError(f"{self.path}: the attributes of {name} cannot be read: {_sentence(error)}") from error


def _text(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _plain(value):
    if isinstance(value, (bytes, str)):
        return _text(value)
    return value.item() if isinstance(value, np.generic) else value


def _sentence(error):
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def _read(path, dataset, part=()):
    try:
        return dataset[part]
    except (OSError, RuntimeError) as error:
        raise FileError(f"{path}: {dataset.name} cannot be read: {_sentence(error)}") from error


def _opened(path):
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: no such file")
    if os.path.isdir(path):
        raise FileError(f"{path}: a folder, not a file")
    try:
        return h5py.File(path, "r")
    except OSError as error:
        if not os.access(path, os.R_OK):
            raise PermissionError(f"{path}: not allowed to be read") from error
        if not h5py.is_hdf5(path):
            raise FileError(f"{path}: not an HDF5 file") from error
        raise FileError(f"{path}: it cannot be opened: {_sentence(error)}") from error


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
    handle, partial = tempfile.mkstemp(prefix=os.path.basename(path) + ".partial-", suffix=suffix, dir=folder)
    os.close(handle)
    try:
        if hdf5:
            with h5py.File(partial, "w") as file:
                _write_group(file, dataset, a, compression)
        elif lower.endswith(".npz"):
            sp.save_npz(partial, sp.csr_matrix(a))
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
        matrix = np.asarray(matrix)
        if matrix.ndim != 2:
            raise TypeError(f"A must be a sparse or dense matrix, not an array of {matrix.ndim} dimensions")
    if matrix.dtype.kind == "c":
        raise TypeError("the matrix is complex; block-eigs works with real symmetric matrices")
    if matrix.dtype.kind not in "fiub":
        raise TypeError(f"the matrix has entries of type {matrix.dtype}, which are no real numbers")
    a = sp.csr_matrix(matrix)
    if a.dtype not in (np.float32, np.float64):
        a = a.astype(np.float64)
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
        group.create_dataset(key, data=values.astype(np.int32 if small else np.int64, copy=False), compression=compression)


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
