"""The default preconditioner, auto: right values whatever the matrix looks like, the choice with its reason, and the
same bits from run to run."""

import re
import shlex

import harness
import h5py
import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg
from result_test import grid_spectrum


def hamiltonian(side):
    """-1/2 Laplacian and three wells: the lowest eigenvalues are negative, and so are diagonal entries."""
    axis = np.linspace(-4.0, 4.0, side)
    x, y = np.meshgrid(axis, axis, indexing="ij")
    wells = sum(-30.0 * np.exp(-2.0 * ((x - a) ** 2 + (y - b) ** 2)) for a, b in ((-2.0, -1.0), (1.5, 1.0), (0.5, -2.0)))
    line = harness.laplacian(side)
    return (sp.kronsum(line, line) * 0.5 / (axis[1] - axis[0]) ** 2 + sp.diags(wells.ravel())).tocsr()


def linear_elements(side):
    """Stiffness and mass of bilinear elements on a square whose lines stand ever closer."""
    places = np.linspace(0.0, 1.0, side + 2) ** 1.5
    h = np.diff(places)
    k = sp.diags([-1 / h[1:-1], 1 / h[:-1] + 1 / h[1:], -1 / h[1:-1]], [-1, 0, 1])
    m = sp.diags([h[1:-1] / 6, (h[:-1] + h[1:]) / 3, h[1:-1] / 6], [-1, 0, 1])
    return (sp.kron(k, m) + sp.kron(m, k)).tocsr(), sp.kron(m, m).tocsr()


def smallest(a, pairs, m=None):
    """By shift and invert, from below the spectrum."""
    below = min(0.0, (a.diagonal() - (abs(a).sum(axis=1).A1 - abs(a.diagonal()))).min()) - 1.0 if m is None else 0.0
    values = sp.linalg.eigsh(a.tocsc(), pairs, M=None if m is None else m.tocsc(), sigma=below, which="LM",
                             return_eigenvectors=False, tol=1e-13)
    return np.sort(values)


class AutoTest(harness.AppTest):
    def solve(self, text, *overrides, name="out.h5"):
        run = self.run_program(self.config(text + "output: {file: %s}\n" % name), *overrides, timeout=200)
        self.assertEqual(run.code, 0, run)
        self.assertEqual(run.errors(), [], run)
        self.assert_reason(run)
        with h5py.File(self.path(name)) as file:
            self.assertTrue(file["converged"][:].all())
            return run, file["eigenvalues"][:], file["eigenvectors"][:]

    def assert_reason(self, run):
        self.assertRegex(run.stdout, r"(?m)^preconditioner: (none|jacobi|chebyshev|amg)\b.*, because \w.*$", run)

    def test_laplacian(self):
        for text in ("{generate: laplacian3d, size: [17, 16, 15]}", "{generate: laplacian2d, size: [60, 50]}"):
            sizes = eval(text[text.index("["):text.index("]") + 1])
            _, values, _ = self.solve(f"matrix: {text}\neigensolver: {{pairs: 6}}\n")
            np.testing.assert_allclose(values, grid_spectrum(*sizes)[:6], rtol=1e-10, err_msg=text)

    def test_all_pairs_of_a_projector(self):
        """Half of the eigenvalues are zero: nothing of them is below what rounding errors leave of their residuals."""
        rows = 300
        random = np.random.default_rng(1)
        turns = harness.random_turns(rows, 3, random)
        exact = np.repeat([0.0, 1.0], rows // 2)
        a = turns @ sp.diags(exact) @ turns.T
        self.save(0.5 * (a + a.T))
        for pairs, which in ((rows - 1, "smallest"), (rows // 2, "smallest"), (rows - 1, "largest")):
            run = self.run_program(self.config("matrix: {file: a.npz}\noutput: {file: out.h5}\n"
                                               f"eigensolver: {{pairs: {pairs}, which: {which}}}\n"))
            self.assertEqual(run.code, 0, run)
            with h5py.File(self.path("out.h5")) as file:
                wanted = exact[:pairs] if which == "smallest" else exact[::-1][:pairs]
                np.testing.assert_allclose(file["eigenvalues"][:], wanted, atol=1e-13)

    def test_largest(self):
        run, values, _ = self.solve("matrix: {generate: laplacian2d, size: [40, 33]}\n"
                                    "eigensolver: {pairs: 5, which: largest}\n")
        np.testing.assert_allclose(values, grid_spectrum(40, 33)[::-1][:5], rtol=1e-10)
        self.assertRegex(run.stdout, r"(?m)^preconditioner: none with filters, because ")

    def test_indefinite(self):
        """Without the dense solver, which would finish what iterations cannot."""
        a = hamiltonian(48)
        self.save(a)
        exact = smallest(a, 8)
        self.assertLess(exact[2], -1.0)
        for more in ("", ", dense_up_to: 0"):
            _, values, _ = self.solve(f"matrix: {{file: a.npz}}\neigensolver: {{pairs: 8{more}}}\n")
            np.testing.assert_allclose(values, exact, rtol=1e-9, atol=1e-9)

    def test_pencil(self):
        k, m = linear_elements(50)
        self.save(k, "k.npz")
        self.save(m, "m.npz")
        _, values, _ = self.solve("matrix: {file: k.npz}\nmass: {file: m.npz}\neigensolver: {pairs: 6}\n")
        np.testing.assert_allclose(values, smallest(k, 6, m), rtol=1e-9)

    def test_check_says_what_is_chosen(self):
        text = "matrix: {generate: laplacian3d, size: [17, 16, 15]}\neigensolver: {pairs: 6}\n"
        check = self.run_program("--check", self.config(text))
        self.assertEqual(check.code, 0, check)
        self.assert_reason(check)
        self.assertIn("type: auto", check.stdout)
        run, _, _ = self.solve(text)
        self.assertEqual(self.choices(check)[0], self.choices(run)[0])

    def test_last_line_of_an_unfinished_run_leads_on(self):
        """The command that it ends with is run as it stands, until all is done."""
        text = "matrix: {generate: laplacian3d, size: [17, 16, 15]}\neigensolver: {pairs: 6, dense_up_to: 0}\n"
        self.config(text)
        for overrides in (["eigensolver.max_iterations=3"],
                          ["eigensolver.preconditioner={type: jacobi}", "eigensolver.filtered_start=false",
                           "eigensolver.max_iterations=20"]):
            run = self.run_program("run.yaml", *overrides)
            self.assertEqual(run.code, 4, run)
            for _ in range(3):
                self.assertRegex(run.stderr, r"(?m)^block-eigs: \d of 6 pairs not converged \(.*\): max_iterations = \d+ reached; ")
                words = shlex.split(re.search(r"(?m); try: block-eigs (.*)$", run.stderr).group(1))
                run = self.run_program(*words)
                if run.code == 0:
                    break
            self.assertEqual(run.code, 0, run)

    def choices(self, run):
        return [line for line in run.stdout.splitlines() if line.startswith(("preconditioner:", "preconditioner from"))]

    def test_runs_repeat(self):
        self.save(hamiltonian(48))
        for text in ("matrix: {generate: laplacian3d, size: [17, 16, 15]}\neigensolver: {pairs: 6}\n",
                     "matrix: {file: a.npz}\neigensolver: {pairs: 8, dense_up_to: 0}\n"):
            first = self.solve(text)
            second = self.solve(text, name="again.h5")
            self.assertEqual(self.choices(first[0]), self.choices(second[0]))
            np.testing.assert_array_equal(first[1], second[1])
            np.testing.assert_array_equal(first[2], second[2])

    def test_initial_vectors_are_used(self):
        """Those of the result itself need no more than a look."""
        text = "matrix: {generate: laplacian3d, size: [17, 16, 15]}\neigensolver: {pairs: 6}\n"
        self.solve(text)
        for more in ("eigensolver.preconditioner={type: auto}", "eigensolver.preconditioner={type: amg}"):
            run = self.run_program("run.yaml", more, "eigensolver.initial={file: out.h5, dataset: /eigenvectors}",
                                   "output.file=warm.h5")
            self.assertEqual(run.code, 0, run)
            with h5py.File(self.path("warm.h5")) as file:
                self.assertLessEqual(int(file.attrs["iterations"]), 1, more)
                np.testing.assert_allclose(file["eigenvalues"][:], grid_spectrum(17, 16, 15)[:6], rtol=1e-10)

    def test_changes_where_iterations_begin_in_float_by_request(self):
        """A float copy of the matrix uses its rows up, and the next preconditioner wants them, too."""
        rng = np.random.default_rng(5)
        q, _ = np.linalg.qr(rng.standard_normal((54, 54)))
        values = 10.0 ** np.linspace(-10, 10, 54)
        self.save(sp.csr_matrix(np.round((q * values) @ q.T, 12)))
        for more in ("", ", filtered_start: false"):
            run, _, _ = self.solve("matrix: {file: a.npz}\neigensolver: {pairs: 2, inner_precision: float, convergence: norm, "
                                   f"tolerance: 1e-14, dense_up_to: 0{more}}}\n")
            self.assertGreater(len(self.choices(run)), 1, run)

    def test_history_of_a_shifted_cycle_is_that_of_the_matrix(self):
        """The levels, in which iterations begin in float, hold another matrix."""
        a = hamiltonian(64)
        self.save(a)
        exact = smallest(a, 4)
        run = self.run_program(self.config("matrix: {file: a.npz}\neigensolver: {pairs: 4, preconditioner: {type: amg, "
                                           "shift: -31.0}}\noutput: {file: out.h5}\n"))
        self.assertEqual(run.code, 0, run)
        with h5py.File(self.path("out.h5")) as file:
            np.testing.assert_allclose(file["eigenvalues"][:], exact, rtol=1e-9)
            course = file["history/eigenvalues"][:, 0]
            self.assertTrue(np.all(np.abs(course - exact[0]) < 0.3 * abs(exact[0])), course)

    def test_amg_by_name_on_an_indefinite_matrix(self):
        """Whatever becomes of it, it is no failure: everything converged, or one sentence says why not."""
        self.save(hamiltonian(40))
        for more in ("", ", shift: -31.0"):
            for dense in (0, 3000):
                run = self.run_program(self.config(
                    f"matrix: {{file: a.npz}}\neigensolver: {{pairs: 6, dense_up_to: {dense}, max_iterations: 100, "
                    f"preconditioner: {{type: amg{more}}}}}\n"), timeout=200)
                self.assertIn(run.code, (0, 4) if dense == 0 and not more else (0,), run)
                self.assertEqual(run.errors(), [], run)
                if run.code == 4:
                    self.assertRegex(run.stderr, r"block-eigs: \d of 6 pairs not converged \(.*\): \w")


if __name__ == "__main__":
    harness.main()
