"""Real matrices through the program, against LAPACK and SciPy's shift-and-invert, at several rank counts.

usage: real_matrices_test.py PROGRAM MATRICES MPIEXEC FLAG CASE
Exits 77 where the matrices or SciPy are not there.
"""

import os
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
    import scipy.io
    import scipy.linalg
    import scipy.sparse as sparse
    import scipy.sparse.linalg as splinalg
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

EPSILON = np.finfo(float).eps


def solve(program, mpiexec, flag, ranks, folder, matrix, keys):
    """Runs block-eigs and returns its result file's arrays."""
    result = os.path.join(folder, f"result{ranks}.h5")
    config = os.path.join(folder, "config.yaml")
    with open(config, "w") as file:
        file.write(f"matrix: {{file: {matrix}}}\noutput: {{file: {result}}}\n")
    command = [program, config, *keys]
    if ranks > 1:
        command = [mpiexec, flag, str(ranks), *command]
    run = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert run.returncode == 0, f"{ranks} ranks: exit {run.returncode}\n{run.stdout}\n{run.stderr}"
    with h5py.File(result) as file:
        return {name: file[name][()] for name in ("eigenvalues", "eigenvectors", "residual_norms", "status")}


def dense_ends(a, count, largest):
    n = a.shape[0]
    chosen = (n - count, n - 1) if largest else (0, count - 1)
    values = scipy.linalg.eigh(a.toarray(), eigvals_only=True, subset_by_index=chosen)
    return values[::-1] if largest else values


def shift_invert(a, count, b=None):
    return np.sort(splinalg.eigsh(a, count, M=b, sigma=0.0, which="LM", return_eigenvectors=False))


CHEBYSHEV = ["eigensolver.preconditioner.type=chebyshev", "eigensolver.preconditioner.degree=30"]


def case_trefethen(matrices):
    path = os.path.join(matrices, "Trefethen_2000.mtx.gz")
    a = scipy.io.mmread(path).tocsr().astype(float)
    return path, a, None, dense_ends(a, 10, False), []


def case_ani4_smallest(matrices):
    path = os.path.join(matrices, "ani4.mtx.gz")
    a = scipy.io.mmread(path).tocsr()
    return path, a, None, dense_ends(a, 10, False), CHEBYSHEV[:1]


def case_ani4_largest(matrices):
    path = os.path.join(matrices, "ani4.mtx.gz")
    a = scipy.io.mmread(path).tocsr()
    return path, a, None, dense_ends(a, 10, True), ["eigensolver.which=largest"]


def case_bcsstk17_largest(matrices):
    path = os.path.join(matrices, "bcsstk17.mtx.gz")
    a = scipy.io.mmread(path).tocsr()
    values = np.sort(splinalg.eigsh(a, 10, which="LM", return_eigenvectors=False))[::-1]
    return path, a, None, values, ["eigensolver.which=largest"]


def case_bcsstk17_smallest(matrices):
    # 518 isolated rows with the entry 1: the smallest eigenvalue, that often.
    path = os.path.join(matrices, "bcsstk17.mtx.gz")
    a = scipy.io.mmread(path).tocsr()
    return path, a, None, np.ones(10), CHEBYSHEV


def case_bcsstk17_pencil(matrices):
    path = os.path.join(matrices, "bcsstk17.mtx.gz")
    a = scipy.io.mmread(path).tocsr()
    b = sparse.diags(a.diagonal()).tocsr()
    return path, a, b, shift_invert(a.tocsc(), 10, b.tocsc()), CHEBYSHEV


def check(name, a, b, reference, found, ranks):
    values, vectors = found["eigenvalues"], found["eigenvectors"]
    norm = abs(a).sum(axis=1).max()
    if name == "bcsstk17_smallest":
        allowed = np.full(len(values), 100 * EPSILON * norm)
        assert all("accuracy" in str(s) or "'converged'" in str(s) for s in found["status"]), found["status"]
    else:
        allowed = 1e-8 * abs(reference)
    worst = (abs(values - reference) / allowed).max()
    assert worst <= 1.0, f"{name}, {ranks} ranks: {values} is not {reference}"
    mass = vectors if b is None else b @ vectors
    residuals = np.linalg.norm(a @ vectors - mass * values, axis=0)
    assert np.allclose(residuals, found["residual_norms"], rtol=1e-3, atol=100 * EPSILON * norm)
    orthogonality = abs(vectors.T @ mass - np.eye(len(values))).max()
    assert orthogonality < 1e-8, f"V'BV deviates from I by {orthogonality}"
    print(f"{name}, {ranks} ranks: within {worst:.1e} of what is allowed, orthogonal to {orthogonality:.0e}")


def main():
    program, matrices, mpiexec, flag, name = sys.argv[1:6]
    if not os.path.exists(os.path.join(matrices, "bcsstk17.mtx.gz")):
        print(f"skipped: no matrices in {matrices}; set BLOCK_EIGS_MATRICES")
        sys.exit(77)
    path, a, b, reference, keys = globals()["case_" + name](matrices)
    keys = keys + ["eigensolver.pairs=10", "eigensolver.tolerance=1e-8", "eigensolver.max_iterations=3000"]
    scale = 100 * EPSILON * abs(a).sum(axis=1).max()
    with tempfile.TemporaryDirectory() as folder:
        if b is not None:
            sparse.save_npz(os.path.join(folder, "mass.npz"), b)
            keys.append(f"mass.file={folder}/mass.npz")
        first = None
        for ranks in (1, 2, 3, 4):
            found = solve(program, mpiexec, flag, ranks, folder, path, keys)
            check(name, a, b, reference, found, ranks)
            first = found["eigenvalues"] if first is None else first
            allowed = 1e-10 * np.maximum(abs(first), scale)
            assert (abs(found["eigenvalues"] - first) <= allowed).all(), f"{ranks} ranks disagree with one"


if __name__ == "__main__":
    main()
