"""Matrices that iterations find hard, at default settings and at 1 and 3 ranks: exit code 0 and the right values.

usage: default_settings_test.py PROGRAM MATRICES MPIEXEC FLAG CASE
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
PAIRS = 10


def case_cluster_of_50(_):
    """A diagonal with 50 smallest values within 5e-7; one row more than is solved densely, and 50 on top."""
    random = np.random.default_rng(1)
    values = np.concatenate([1 + 5e-7 * random.uniform(0, 1, 50), random.uniform(1.5, 10, 3000)])
    a = sparse.diags(random.permutation(values)).tocsr()
    return a, "smallest", np.sort(values)[:PAIRS]


def hexahedron(sides, young, poisson):
    """The stiffness of a box with trilinear shape functions, two Gauss points a direction."""
    lame = young * poisson / ((1 + poisson) * (1 - 2 * poisson))
    shear = young / (2 * (1 + poisson))
    law = np.diag([2 * shear] * 3 + [shear] * 3)
    law[:3, :3] += lame
    corners = np.array([[i, j, k] for k in (-1, 1) for j in (-1, 1) for i in (-1, 1)], float)
    result = np.zeros((24, 24))
    for point in corners / np.sqrt(3):
        strain = np.zeros((6, 24))
        for node, corner in enumerate(corners):
            factors = (1 + corner * point) / 2
            dx, dy, dz = (corner[c] / sides[c] * np.prod(np.delete(factors, c)) for c in range(3))
            strain[:, 3 * node:3 * node + 3] = [[dx, 0, 0], [0, dy, 0], [0, 0, dz], [dy, dx, 0], [0, dz, dy],
                                                [dz, 0, dx]]
        result += strain.T @ law @ strain * np.prod(sides) / 8
    return result


def case_stiffness(_):
    """A block of hexahedra of several sizes and materials, entries to 1e10, and 74 rows of 1 that stand alone."""
    random = np.random.default_rng(3)
    elements = (8, 8, 18)
    sides = [3.0 ** random.uniform(-0.5, 0.5, count) for count in elements]
    nodes = np.arange((elements[0] + 1) * (elements[1] + 1) * (elements[2] + 1))
    nodes = nodes.reshape([count + 1 for count in elements])
    rows, columns, values = [], [], []
    for i, j, k in np.ndindex(*elements):
        box = hexahedron([sides[0][i], sides[1][j], sides[2][k]], 3e8 * 10 ** random.uniform(-0.5, 0.5), 0.3)
        local = nodes[i:i + 2, j:j + 2, k:k + 2].transpose(2, 1, 0).ravel()
        unknowns = (3 * local[:, None] + np.arange(3)).ravel()
        rows.append(np.repeat(unknowns, 24)), columns.append(np.tile(unknowns, 24)), values.append(box.ravel())
    entries = tuple(np.concatenate(part) for part in (values, rows, columns))
    a = sparse.coo_matrix((entries[0], entries[1:])).tocsr()
    free = (3 * nodes[:, :, 1:].ravel()[:, None] + np.arange(3)).ravel()
    a = sparse.block_diag([a[free][:, free], sparse.eye(74)]).tocsr()
    order = random.permutation(a.shape[0])
    a = a[order][:, order]
    return ((a + a.T) / 2).tocsr(), "smallest", np.ones(PAIRS)


def case_c62_smallest(matrices, which="smallest"):
    path = os.path.join(matrices, "c-62.mtx.gz")
    if not os.path.exists(path):
        print(f"skipped: no matrices in {matrices}; set BLOCK_EIGS_MATRICES")
        sys.exit(77)
    a = scipy.io.mmread(path).tocsr().astype(float)
    values = splinalg.eigsh(a, PAIRS, which="SA" if which == "smallest" else "LA", tol=1e-10, ncv=60,
                            return_eigenvectors=False)
    return a, which, np.sort(values) if which == "smallest" else np.sort(values)[::-1]


def case_c62_largest(matrices):
    return case_c62_smallest(matrices, "largest")


def with_spectrum(values, seed=1):
    """A sparse matrix with these eigenvalues: a diagonal turned in random planes, three times."""
    random, rows = np.random.default_rng(seed), len(values)
    a = sparse.diags(values).tocsr()
    for _ in range(3):
        order, half = random.permutation(rows), rows // 2
        i, j, rest, angle = order[:half], order[half:2 * half], order[2 * half:], random.uniform(0, 2 * np.pi, half)
        entries = np.concatenate([np.cos(angle), np.cos(angle), np.sin(angle), -np.sin(angle), np.ones(len(rest))])
        at = np.concatenate([i, j, i, j, rest]), np.concatenate([i, j, j, i, rest])
        turn = sparse.csr_matrix((entries, at), shape=(rows, rows))
        a = turn @ a @ turn.T
    return ((a + a.T) / 2).tocsr()


def case_cluster_within_tolerance(_):
    """40 smallest values within 4e-8, which the tolerance does not tell apart: more than columns."""
    values = np.concatenate([1 + 1e-9 * np.arange(40), np.linspace(2, 100, 3960)])
    return with_spectrum(values), "smallest", values[:PAIRS]


def case_cluster_of_300(_):
    """More than the columns of a block that was made wider once."""
    values = np.concatenate([1 + 1e-7 * np.arange(300), np.linspace(1.1, 100, 3700)])
    return with_spectrum(values), "smallest", values[:PAIRS]


def case_cluster_around_zero(_):
    """30 values that are rounding errors of the norm, nearly: no cluster in relation to their size."""
    values = np.concatenate([np.linspace(-1e-6, 1e-6, 30), np.linspace(1, 1e6, 3970)])
    return with_spectrum(values), "smallest", values[:PAIRS]


def line(rows):
    return sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(rows, rows)).tocsr()


def case_largest_with_mass(_):
    """A diagonal B over four decades."""
    rows = 5000
    mass = 10 ** np.random.default_rng(1).uniform(0, 4, rows)
    values = scipy.linalg.eigh_tridiagonal(2 / mass, -1 / np.sqrt(mass[1:] * mass[:-1]), eigvals_only=True,
                                           select="i", select_range=(rows - PAIRS, rows - 1))
    return line(rows), "largest", values[::-1], sparse.diags(mass).tocsr()


def case_largest_with_consistent_mass(_):
    """P1 elements on an interval, its elements over four decades."""
    rows = 5000
    sizes = 10 ** np.random.default_rng(1).uniform(-4, 0, rows + 1)
    beside = sizes[1:-1]
    a = sparse.diags([-1 / beside, 1 / sizes[1:] + 1 / sizes[:-1], -1 / beside], [-1, 0, 1]).tocsr()
    b = sparse.diags([beside / 6, (sizes[1:] + sizes[:-1]) / 3, beside / 6], [-1, 0, 1]).tocsc()
    values = splinalg.eigsh(a, PAIRS, b, which="LA", tol=1e-12, ncv=60, return_eigenvectors=False)
    return a, "largest", np.sort(values)[::-1], b.tocsr()


def case_largest_with_near_singular_mass(_):
    """The identity against a line of springs: the inverse of what multigrid is made for."""
    rows = 5000
    a, b = sparse.identity(rows, format="csr"), (line(rows) + 4e-8 * sparse.identity(rows)).tocsr()
    values = 1 / (2 - 2 * np.cos(np.pi * np.arange(1, PAIRS + 1) / (rows + 1)) + 4e-8)
    return a, "largest", values, b


def path(size):
    """The second differences of a line, and its eigenvalues."""
    return line(size), 4 * np.sin(np.pi * np.arange(1, PAIRS + 1) / (2 * (size + 1))) ** 2


def case_permuted_path(_):
    """A path in an order in which nearly all neighbours lie on other ranks."""
    a, values = path(20000)
    order = np.random.default_rng(0).permutation(a.shape[0])
    return a[order][:, order].tocsr(), "smallest", values


def penalised(where, size):
    """A plane of 80 x 80 cells with conditions by penalty; the values are those with these rows taken out."""
    line = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(80, 80))
    plane = sparse.kronsum(line, line).tocsr()
    penalty = np.zeros(plane.shape[0])
    penalty[where] = size
    free = np.flatnonzero(penalty == 0)
    values = splinalg.eigsh(plane[free][:, free].tocsc(), PAIRS, sigma=0, return_eigenvectors=False)
    return (plane + sparse.diags(penalty)).tocsr(), "smallest", np.sort(values)


def case_penalty_edge(_):
    return penalised(np.arange(80), 1e14)


def case_penalty_point(_):
    return penalised([3210], 1e20)


# Rows by penalty are nearly all of the norm, and rounding errors of the others do not go with it.
LIMITS = {"penalty_edge": 1e-8, "penalty_point": 1e-8}


def main():
    program, matrices, mpiexec, flag, name = sys.argv[1:6]
    a, which, reference, *rest = globals()["case_" + name](matrices)
    b = rest[0] if rest else None
    norm = abs(a).sum(axis=1).max()
    # Residuals of 1e-8 |lambda|, or rounding errors, are within as much of an eigenvalue.
    allowed = np.maximum(1e-8 * abs(reference), 20 * EPSILON * norm if b is None else 0.0)
    if name in LIMITS:
        allowed = LIMITS[name] * abs(reference)
    with tempfile.TemporaryDirectory() as folder:
        matrix, result, config = (os.path.join(folder, f) for f in ("a.npz", "result.h5", "config.yaml"))
        sparse.save_npz(matrix, a)
        with open(config, "w") as file:
            file.write(f"matrix: {{file: {matrix}}}\noutput: {{file: {result}}}\n"
                       f"eigensolver: {{pairs: {PAIRS}, which: {which}}}\n")
            if b is not None:
                mass = os.path.join(folder, "b.npz")
                sparse.save_npz(mass, b)
                file.write(f"mass: {{file: {mass}}}\n")
        for ranks in (1, 3):
            command = ([mpiexec, flag, str(ranks)] if ranks > 1 else []) + [program, config]
            run = subprocess.run(command, capture_output=True, text=True, timeout=250)
            assert run.returncode == 0, f"{ranks} ranks: exit {run.returncode}\n{run.stdout}\n{run.stderr}"
            with h5py.File(result) as file:
                values, vectors = file["eigenvalues"][()], file["eigenvectors"][()]
            worst = (abs(values - reference) / allowed).max()
            assert worst <= 1.0, f"{ranks} ranks: {values} is not {reference}"
            orthogonality = abs(vectors.T @ (vectors if b is None else b @ vectors) - np.eye(PAIRS)).max()
            assert orthogonality < 1e-10, f"V'V deviates from I by {orthogonality}"
            print(f"{name}, {ranks} ranks: within {worst:.1e} of what is allowed")


if __name__ == "__main__":
    main()
