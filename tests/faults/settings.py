"""What is run with faults: both programs, every way of reading, checkpoint and result written; and whether what came of
it is right, seen with NumPy and h5py."""

import gzip
import os

import h5py
import numpy as np
import scipy.io
import scipy.sparse as sp

ROWS, PAIRS, SIDES = 200, 4, 3
RESULT, CHECKPOINT = "out.h5", "state.h5"
OLD = b"an older result"
FILES = f"checkpoint: {{file: {CHECKPOINT}, every: 1h}}\noutput: {{file: {RESULT}}}\n"

EIGS = "eigensolver: {pairs: 4, tolerance: 1e-6, dense_up_to: 0, preconditioner: {type: %s}%s}\n"
SOLVE = "right_hand_sides: {file: rhs.h5, dataset: /F}\nlinear_solver: {tolerance: 1e-8, preconditioner: {type: %s}}\n"

# Name: program, config.
SETTINGS = {
    "eigs-npz": ("block-eigs", "matrix: {file: a.npz}\n" + EIGS % ("auto", "")),
    "eigs-hdf5": ("block-eigs", "matrix: {file: a.h5, dataset: /A}\nmass: {file: b.npz}\n"
                  + EIGS % ("jacobi", ", initial: {file: rhs.h5, dataset: /F}")),
    "eigs-mtx": ("block-eigs", "matrix: {file: a.mtx}\n" + EIGS % ("amg", "")),
    "solve-npz": ("block-solve", "matrix: {file: a.npz}\n" + SOLVE % "auto"),
    "solve-hdf5": ("block-solve", "matrix: {file: a.h5, dataset: /A}\n" + SOLVE % "jacobi"),
    "solve-mtx": ("block-solve", "matrix: {file: a.mtx.gz}\n" + SOLVE % "amg"),
}
# Attributes that tell of time and memory, or of what a run that survived may have done in another way.
OF_THE_RUN = ("seconds", "memory", "iterations", "remark", "proof", "made", "chosen", "version")


def matrix():
    return sp.diags([-1.0, 2.01, -1.0], [-1, 0, 1], shape=(ROWS, ROWS), format="csr")


def mass():
    return sp.diags([0.1, 1.0, 0.1], [-1, 0, 1], shape=(ROWS, ROWS), format="csr")


def sides():
    return np.random.default_rng(7).standard_normal((ROWS, SIDES))


def write_inputs(folder):
    def path(name):
        return os.path.join(folder, name)

    a = matrix()
    sp.save_npz(path("a.npz"), a)
    sp.save_npz(path("b.npz"), mass(), compressed=False)
    scipy.io.mmwrite(path("a.mtx"), a, symmetry="symmetric")
    with gzip.open(path("a.mtx.gz"), "wb") as file:
        scipy.io.mmwrite(file, a)
    with h5py.File(path("a.h5"), "w") as file:
        group = file.create_group("A")
        group.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": a.shape})
        group.create_dataset("data", data=a.data, chunks=(100,), compression="gzip", fletcher32=True)
        group["indices"], group["indptr"] = a.indices, a.indptr
    with h5py.File(path("rhs.h5"), "w") as file:
        file["F"] = sides()
    for name, (_, config) in SETTINGS.items():
        with open(path(name + ".yaml"), "w", encoding="utf-8") as file:
            file.write(config + FILES)


def contents(path):
    """All that is in an HDF5 file: type, shape and values of what does not change from run to run."""
    found = {}

    def visit(name, node):
        found[name] = (node.dtype.kind, node.ndim, len(node.attrs)) if isinstance(node, h5py.Dataset) else len(node.attrs)
        if isinstance(node, h5py.Dataset):
            node[()]
        for key, value in node.attrs.items():
            if isinstance(value, str) and not any(word in key for word in OF_THE_RUN):
                found[f"{name}@{key}"] = value.replace(os.path.dirname(path), "")

    with h5py.File(path, "r") as file:
        visit("/", file)
        file.visititems(visit)
    return found


def wrong_eigenpairs(file, generalized):
    a, b = matrix(), mass() if generalized else sp.identity(ROWS)
    values, x = file["eigenvalues"][()], file["eigenvectors"][()]
    if generalized:
        known = np.sort(np.linalg.eigvals(np.linalg.solve(b.toarray(), a.toarray())).real)[:PAIRS]
    else:
        known = 2.01 - 2.0 * np.cos(np.pi * np.arange(1, PAIRS + 1) / (ROWS + 1))
    residuals = np.linalg.norm(a @ x - (b @ x) * values, axis=0)
    if not np.allclose(values, known, rtol=1e-6):
        return f"eigenvalues {values} where {known} are right"
    return "" if (residuals <= 2e-6 * np.abs(values)).all() else f"residuals {residuals}"


def wrong_solutions(file):
    f = sides()
    residuals = np.linalg.norm(f - matrix() @ file["solution"][()], axis=0) / np.linalg.norm(f, axis=0)
    return "" if (residuals <= 1.01e-8).all() else f"residuals {residuals}"


def wrong_result(name, path, expected, code):
    """What is wrong with a new result, "" where nothing is. Of exit code 4 only what it says of itself is looked at."""
    try:
        now = contents(path)
        with h5py.File(path, "r") as file:
            if sorted(now) != sorted(expected):
                return f"objects {sorted(set(now) ^ set(expected))}"
            differing = [key for key in now if now[key] != expected[key]]
            if differing:
                return f"{differing[0]}: {now[differing[0]]} where {expected[differing[0]]} is right"
            unfinished = not file["converged"][()].all()
            if code == 0 and unfinished:
                return "pairs that have not converged, and exit code 0"
            if unfinished:
                return ""
            return wrong_solutions(file) if name.startswith("solve") else wrong_eigenpairs(file, name == "eigs-hdf5")
    except (OSError, KeyError, ValueError, RuntimeError) as error:
        return f"cannot be read: {error}"
