"""Pairs that iterations by themselves pass over, at 1 and 3 ranks: exit code 0 and none missed.

usage: passed_over_test.py PROGRAM MPIEXEC FLAG CASE
Exits 77 where SciPy is not there. The values are closed forms.
"""

import os
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
    import scipy.sparse as sparse
    import scipy.sparse.linalg as splinalg
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

EPSILON = np.finfo(float).eps


def line(rows):
    return sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(rows, rows)).tocsr()


def values_of_line(rows):
    return 2 - 2 * np.cos(np.pi * np.arange(1, rows + 1) / (rows + 1))


def plane(side):
    return sparse.kronsum(line(side), line(side)).tocsr()


def values_of_plane(side):
    values = values_of_line(side)
    return np.sort((values[:, None] + values).ravel())


def mixed(*blocks):
    """Blocks side by side, rows and columns in random order."""
    a = sparse.block_diag(blocks).tocsr()
    order = np.random.default_rng(0).permutation(a.shape[0])
    return a[order][:, order].tocsr()


class Case:
    def __init__(self, a, values, b=None, which="smallest", initial=None, options=(), words=(), most_iterations=10**6):
        self.a, self.values, self.b, self.which = a, np.asarray(values), b, which
        self.initial, self.options, self.words, self.most_iterations = initial, options, words, most_iterations


def empty_rows(preconditioner):
    """Zeros more often than is asked for, beside small values that multigrid amplifies."""
    return Case(mixed(line(6000), sparse.csr_matrix((10, 10))), np.zeros(6),
                options=[f"eigensolver.preconditioner={{type: {preconditioner}}}"], words=["10 rows stand alone"])


def case_empty_rows_amg():
    return empty_rows("amg")


def case_empty_rows_jacobi():
    return empty_rows("jacobi")


def case_empty_rows_and_more():
    values = np.concatenate([np.zeros(10), values_of_line(6000)[:2]])
    return Case(mixed(line(6000), sparse.csr_matrix((10, 10))), values,
                options=["eigensolver.preconditioner={type: amg}"])


def case_empty_row():
    values = np.concatenate([np.zeros(1), values_of_line(6000)[:5]])
    return Case(mixed(line(6000), sparse.csr_matrix((1, 1))), values, most_iterations=60)


def case_rows_amid():
    """A value of two thousand rows amid those of a plane, in windows of columns."""
    values = np.sort(np.concatenate([values_of_plane(60), np.full(2000, 0.02)]))[:20]
    return Case(mixed(plane(60), 0.02 * sparse.identity(2000)), values, options=["eigensolver.block_size=8"])


def case_rows_amid_counted():
    values = np.sort(np.concatenate([values_of_plane(60), np.full(2000, 0.02)]))[:12]
    return Case(mixed(plane(60), 0.02 * sparse.identity(2000)), values, options=["eigensolver.verify=inertia"])


def case_rows_at_upper_end():
    values = np.sort(np.concatenate([values_of_plane(60), np.full(2000, 7.98)]))[::-1][:12]
    return Case(mixed(plane(60), 7.98 * sparse.identity(2000)), values, which="largest")


def case_rows_with_mass():
    """Alone in A and B, but for ten that are alone in A only: zeros too."""
    mass = sparse.block_diag([sparse.identity(3600), line(10) + sparse.identity(10), 0.05 * sparse.identity(90)])
    a = sparse.block_diag([plane(60), sparse.csr_matrix((10, 10)), 1e-3 * sparse.identity(90)])
    values = np.sort(np.concatenate([values_of_plane(60), np.zeros(10), np.full(90, 0.02)]))[:20]
    return Case(a.tocsr(), values, b=mass.tocsr())


def case_few_other_rows():
    values = np.sort(np.concatenate([values_of_plane(3), np.linspace(1, 2, 9000)]))[:8]
    return Case(mixed(plane(3), sparse.diags(np.linspace(1, 2, 9000))), values)


def case_diagonal():
    values = np.random.default_rng(1).uniform(-1, 1, 30000)
    return Case(sparse.diags(values).tocsr(), np.sort(values)[:20], options=["eigensolver.preconditioner={type: amg}"])


def case_rows_that_constraints_reach():
    """The constant vector is taken out: one zero less, and no unit vector is an eigenvector."""
    free_line = line(1200) - sparse.diags(np.r_[1.0, np.zeros(1198), 1.0])
    return Case(mixed(free_line, free_line, sparse.csr_matrix((3, 3))), np.zeros(4), options=["constant"])


def floating(stiffness, parts):
    """A plane and beside it pairs of rows that are held stiffly to each other and to nothing else."""
    pair = stiffness * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return sparse.block_diag([plane(150)] + [pair] * parts).tocsr()


def case_stiff_parts():
    return Case(floating(1e8, 10), np.zeros(6))


def case_stiff_parts_and_more():
    return Case(floating(1e8, 10), np.concatenate([np.zeros(10), values_of_plane(150)[:2]]))


def case_less_stiff_parts():
    return Case(floating(1e4, 10), np.zeros(6))


def case_initial_of_later_pairs():
    """Eigenvectors 5 to 12 to start from, where 1 to 4 are asked for."""
    vectors = splinalg.eigsh(plane(70).tocsc(), 12, sigma=0)[1]
    return Case(plane(70), values_of_plane(70)[:4], initial=vectors[:, 4:])


def case_initial_of_later_pairs_far_from_zero():
    """What values extend over, not how far they are from zero, is what a search has to see. Filters from within the
    spectrum."""
    values, vectors = np.linalg.eigh(plane(22).toarray())
    return Case(plane(22) - 1e6 * sparse.identity(22 * 22), values[:6] - 1e6, initial=vectors[:, 200:208],
                options=["eigensolver.preconditioner={type: none}", "eigensolver.filter=basis"])


def hypercube(dimension):
    edge = sparse.csr_matrix([[1.0, -1.0], [-1.0, 1.0]])
    a = edge
    for _ in range(dimension - 1):
        a = sparse.kronsum(a, edge, format="csr")
        a.eliminate_zeros()
    return a


def case_copies_need_no_wider_block():
    """78 copies of the last value: residuals fall as they are, and no cluster holds them up."""
    return Case(hypercube(13), np.repeat([0.0, 2.0, 4.0], [1, 13, 46]), most_iterations=48)


def soft_mass(shift, least):
    """x'Ax and x'Bx are small for the vector of ones alone, whose value is the shift; the next one is 0.5 more."""
    a = hypercube(12)
    rows = a.shape[0]
    b = line(rows) - sparse.diags(np.r_[1.0, np.zeros(rows - 2), 1.0]) + least * sparse.identity(rows)
    return Case((a + shift * b).tocsr(), [shift], b=b.tocsr(), words=["without confidence"],
                options=["eigensolver.verify=probe"])


def case_soft_mass():
    return soft_mass(0.0, 1e-2)


def case_soft_mass_shifted():
    return soft_mass(0.1, 1e-4)


def main():
    program, mpiexec, flag, name = sys.argv[1:5]
    case = globals()["case_" + name]()
    options = list(case.options)
    pairs = len(case.values)
    norm = abs(case.a).sum(axis=1).max()
    allowed = np.maximum(1e-8 * abs(case.values), 20 * EPSILON * norm)
    with tempfile.TemporaryDirectory() as folder:
        def at(file):
            return os.path.join(folder, file)

        sparse.save_npz(at("a.npz"), case.a)
        solver = f"pairs: {pairs}, which: {case.which}"
        if case.b is not None:
            sparse.save_npz(at("b.npz"), case.b)
        if case.initial is not None:
            with h5py.File(at("x.h5"), "w") as file:
                file["X"] = case.initial
            solver += f", initial: {{file: {at('x.h5')}}}"
        if "constant" in options:
            options.remove("constant")
            with h5py.File(at("c.h5"), "w") as file:
                file["C"] = np.ones((case.a.shape[0], 1))
            solver += f", constraints: {{file: {at('c.h5')}}}"
        with open(at("config.yaml"), "w") as file:
            file.write(f"matrix: {{file: {at('a.npz')}}}\noutput: {{file: {at('result.h5')}}}\n"
                       f"eigensolver: {{{solver}}}\n")
            if case.b is not None:
                file.write(f"mass: {{file: {at('b.npz')}}}\n")
        for ranks in (1, 3):
            command = ([mpiexec, flag, str(ranks)] if ranks > 1 else []) + [program, at("config.yaml")] + options
            run = subprocess.run(command, capture_output=True, text=True, timeout=250)
            if "MUMPS" in run.stderr and run.returncode == 2:
                print(f"skipped: {run.stderr}")
                sys.exit(77)
            assert run.returncode == 0, f"{ranks} ranks: exit {run.returncode}\n{run.stdout}\n{run.stderr}"
            for words in case.words:
                assert words in run.stdout, f"'{words}' is not in {run.stdout}"
            with h5py.File(at("result.h5")) as file:
                values, vectors = file["eigenvalues"][()], file["eigenvectors"][()]
                iterations = file.attrs["iterations"]
            assert iterations <= case.most_iterations, f"{ranks} ranks: {iterations} iterations"
            worst = (abs(values - case.values) / allowed).max()
            assert worst <= 1.0, f"{ranks} ranks: {values} is not {case.values}\n{run.stdout}"
            images = vectors if case.b is None else case.b @ vectors
            orthogonality = abs(vectors.T @ images - np.eye(pairs)).max()
            assert orthogonality < 1e-10, f"V'BV deviates from I by {orthogonality}"
            residual = np.linalg.norm(case.a @ vectors - images * values, axis=0)
            assert (residual <= 2e-8 * abs(values) + 1e-11 * norm).all(), f"residuals {residual}"
            print(f"{name}, {ranks} ranks: within {worst:.1e} of what is allowed")


if __name__ == "__main__":
    main()
