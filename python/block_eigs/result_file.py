"""The result file of block-eigs and block-solve, read (docs/formats.md)."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import numpy as np

from block_eigs.hdf5_reader import FileError, Reader, damage_named, opened, read, verify
from block_eigs.limits import limits_of_pairs, limits_of_solutions, tolerance_of

__all__ = ["FileError", "Result", "read_result"]


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
    missing_from: float = np.nan
    missing_to: float = np.nan
    seconds: float = 0.0


# Of the file as a whole (docs/formats.md).
ATTRIBUTES = (
    *("program", "version", "config", "matrix", "rows", "nonzeros", "ranks", "device"),
    *("setup_seconds", "solve_seconds", "iterations", "remark", "orthonormality"),
    *("memory", "memory_predicted", "gpu_memory", "gpu_memory_predicted"),
    *("proof", *("proof_" + name for name in Proof.__dataclass_fields__ if name != "made")),
)


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
    times: list = field(default_factory=list)  # of Phase, where the run was profiled; the last one is "all"
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
        with opened(self.path) as file:
            with damage_named(self.path):
                if self.vectors_name not in file:
                    raise FileError(
                        f"{self.path}: it holds no {self.vectors_name} (the run had output.eigenvectors: false)"
                    )
                stored = Reader(self.path, file).dataset(self.vectors_name)
                _, count = stored.shape
            chosen = _columns(columns, count)
            with damage_named(self.path):
                if isinstance(chosen, np.ndarray):  # HDF5 reads each once, and in order
                    once, places = np.unique(chosen, return_inverse=True)
                    vectors = read(self.path, stored, (slice(None), once.tolist()))
                    verify(self.path, file, self.vectors_name, vectors, once)
                    return vectors[:, places]
                vectors = read(self.path, stored, (slice(None), chosen))
                verify(self.path, file, self.vectors_name, vectors, chosen)
                return vectors

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


def _columns(columns, count):
    """A slice, the number of one, or an array of their numbers."""
    if isinstance(columns, slice) and columns.indices(count)[2] > 0:  # HDF5 reads none backwards
        return columns
    if isinstance(columns, (bool, np.bool_)):
        raise TypeError("columns are chosen by numbers, not by a bool")
    chosen = np.arange(count)[columns]
    return chosen if chosen.ndim == 1 else int(chosen)


def read_result(path):
    """The result that block-eigs or block-solve wrote to `path`, its vectors apart: these are read when asked for.

    Raises FileNotFoundError, or FileError where the file is none of theirs or is damaged."""
    path = os.fspath(path)
    with opened(path) as file, damage_named(path):
        if "eigenvalues" in file:
            kind = "eigen"
        elif "recursive_residual_norms" in file or "solution" in file:
            kind = "linear"
        else:
            found = ", ".join(sorted(file)[:6]) or "nothing"
            raise FileError(
                f"{path}: not a result of block-eigs or block-solve: it holds neither eigenvalues nor "
                f"solution, but {found}"
            )
        return _result(path, file, kind)


def _result(path, file, kind):
    get = Reader(path, file)
    result = Result(
        path,
        kind,
        get.attributes("/", ATTRIBUTES),
        residual_norms=get("residual_norms"),
        converged=get("converged").astype(bool),
        status=get.text("status"),
    )
    if result.residual_norms.ndim != 1:
        raise FileError(f"{path}: residual_norms has {result.residual_norms.ndim} dimensions instead of 1")
    count = len(result.residual_norms)
    if kind == "eigen":
        result.eigenvalues = get("eigenvalues", count)
        result.error_bounds = get.optional("error_bounds", count)
        result.bounds = get.attributes("error_bounds", ["kind"]).get("kind", "")
        result.attained_tolerances = get.optional("attained_tolerances", count)
        result.requested_tolerance = get.attributes("attained_tolerances", ["requested"]).get("requested")
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
        result.preconditioners = [
            Choice(int(first), text)
            for first, text in zip(get("preconditioners/first_iteration"), get.text("preconditioners/description"))
        ]
        about = get.attributes("preconditioners", ["chosen", "made"])
        result.chosen, result.preconditioner_made = bool(about.get("chosen", False)), about.get("made", "")
    if "times/phase" in file:
        result.times = [
            Phase(name, float(mean), float(slowest))
            for name, mean, slowest in zip(get.text("times/phase"), get("times/mean"), get("times/slowest"))
        ]
    if "memory" in result.attributes:
        result.memory = Memory(
            *(
                float(result.attributes.get(name, 0.0))
                for name in ("memory", "memory_predicted", "gpu_memory", "gpu_memory_predicted")
            )
        )
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
    return History(
        residuals,
        np.full(rows, np.nan) if seconds is None else seconds,
        active,
        active if products is None else products,
        np.zeros(rows, bool) if in_float is None else in_float.astype(bool),
        get.optional("history/eigenvalues", rows),
    )


def _proof(attributes):
    if "proof" not in attributes:
        return None
    names = [name for name in Proof.__dataclass_fields__ if "proof_" + name in attributes]
    return Proof(attributes["proof"], **{name: attributes["proof_" + name] for name in names})
