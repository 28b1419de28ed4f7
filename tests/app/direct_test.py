"""Factors of A - sigma B as a preconditioner, asked for and as auto's way out: values against closed forms, dense LAPACK
and shift-invert, the shift that is found, and what a mistake gets."""

import harness
import h5py
import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg
from result_test import grid_spectrum


def graph_laplacian(weights):
    both = weights + weights.T
    return (sp.diags(np.asarray(both.sum(axis=1)).ravel()) - both).tocsr()


def path(n, decades, seed=1):
    """The Laplacian of a path, its weights spread over so many decades."""
    weights = 10.0 ** np.random.default_rng(seed).uniform(-decades, 0, n - 1)
    return graph_laplacian(sp.csr_matrix((weights, (np.arange(n - 1), np.arange(1, n))), shape=(n, n)))


def wheel(n):
    """A hub and a rim; eigenvalues 0, n and 1 + 2 - 2 cos(2 pi k / (n - 1)), k = 1 .. n - 2."""
    rim = np.arange(1, n)
    weights = sp.coo_matrix((np.ones(2 * n - 2), (np.r_[np.zeros(n - 1, int), rim], np.r_[rim, rim[1:], 1])), shape=(n, n))
    return graph_laplacian(weights.tocsr()), np.sort(np.r_[0.0, n, 3 - 2 * np.cos(2 * np.pi * np.arange(1, n - 1) / (n - 1))])


def hub_row(n=2500):
    """A Laplacian of a grid with a long row of large entries: eigenvalues near +-5e4, the others as before."""
    line = harness.laplacian(50)
    row = sp.coo_matrix((np.full(1500, 1e3), (np.zeros(1500, int), np.arange(1, 1501))), shape=(n, n))
    return (sp.kronsum(line, line) + row + row.T).tocsr()


def cantilever(elements):
    """Stiffness and consistent mass of a beam of cubic elements, of length, bending stiffness and mass one, held at one end:
    eigenvalues are fourth powers of 1.8751041, 4.69409113, ..."""
    h = 1.0 / elements
    k = np.array([[12, 6 * h, -12, 6 * h], [6 * h, 4 * h * h, -6 * h, 2 * h * h],
                  [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h * h, -6 * h, 4 * h * h]]) / h**3
    m = np.array([[156, 22 * h, 54, -13 * h], [22 * h, 4 * h * h, 13 * h, -3 * h * h],
                  [54, 13 * h, 156, -22 * h], [-13 * h, -3 * h * h, -22 * h, 4 * h * h]]) * h / 420
    at = 2 * np.arange(elements)[:, None] + np.arange(4)
    rows, columns = np.repeat(at, 4, axis=1).ravel(), np.tile(at, (1, 4)).ravel()
    held = [sp.coo_matrix((np.tile(part.ravel(), elements), (rows, columns))).tocsr()[2:, 2:] for part in (k, m)]
    return held[0], held[1]


class DirectTest(harness.AppTest):
    def setUp(self):
        super().setUp()
        check = self.run_program("--check", self.config("matrix: {generate: laplacian1d, size: [40]}\n"
                                                        "eigensolver: {preconditioner: {type: direct}}\n"))
        if "preconditioner: direct needs" in check.stderr:
            self.assert_refused(check, 2, ["MUMPS", "use type: auto"])
            self.skipTest("this build has no MUMPS")

    def solve(self, preconditioner="{type: direct}", matrix="file: a.npz", more="", code=0, extra="", timeout=120):
        text = (f"matrix: {{{matrix}}}\n{extra}eigensolver: {{dense_up_to: 0, preconditioner: {preconditioner}{more}}}\n"
                "output: {file: out.h5}\n")
        run = self.run_program(self.config(text), timeout=timeout)
        self.assertEqual(run.code, code, run)
        with h5py.File(self.path("out.h5")) as file:
            if code == 0:
                self.assertTrue(file["converged"][:].all(), run)
            return run, file["eigenvalues"][:], file["eigenvectors"][:], int(file.attrs["iterations"])

    def test_laplacian(self):
        """Both ends, several ranks."""
        for which, end in (("smallest", slice(None, 6)), ("largest", slice(None, -7, -1))):
            run, values, _, iterations = self.solve(matrix="generate: laplacian2d, size: [40, 33]",
                                                    more=f", pairs: 6, which: {which}")
            np.testing.assert_allclose(values, grid_spectrum(40, 33)[end], rtol=1e-10)
            self.assertLess(iterations, 30)
            self.assertRegex(run.stdout, r"(?m)^direct: LDL\^T of A [+-] \S+ I, \S+ entries, \S+ Gflop$")

    def test_given_shift(self):
        run, values, _, _ = self.solve("{type: direct, shift: 0.003}", "generate: laplacian2d, size: [40, 33]", ", pairs: 4")
        np.testing.assert_allclose(values, grid_spectrum(40, 33)[:4], rtol=1e-10)
        self.assertIn("LDL^T of A - 0.003 I", run.stdout)
        bad = self.run_program(self.config("matrix: {generate: laplacian2d, size: [40, 33]}\n"
                                           "eigensolver: {preconditioner: {type: direct, shift: 0.03}}\n"))
        below = int((grid_spectrum(40, 33) < 0.03).sum())
        self.assert_refused(bad, 2, [f"{below} eigenvalues are below 0.03", "must be below all"])

    def test_check_says_what_it_is(self):
        check = self.run_program("--check", self.config("matrix: {generate: laplacian2d, size: [40, 33]}\n"
                                                        "eigensolver: {preconditioner: {type: direct, shift: -0.5}}\n"))
        self.assertEqual(check.code, 0, check)
        self.assertIn("direct: LDL^T of A + 0.5 I", check.stdout)
        self.assertRegex(check.stdout, r"(?m)^ +shift: -0.5$")

    def test_singular_with_components(self):
        self.save(sp.block_diag([graph_laplacian(sp.diags([1.0], [1], shape=(n, n))) for n in (300, 200, 100)]))
        _, values, vectors, _ = self.solve(more=", pairs: 5")
        exact = np.sort(np.concatenate([2 - 2 * np.cos(np.pi * np.arange(n) / n) for n in (300, 200, 100)]))[:5]
        np.testing.assert_allclose(values, exact, atol=1e-12)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-10)

    def test_indefinite(self):
        """Nothing is known of the lower end, and half of the spectrum is negative."""
        rng = np.random.default_rng(3)
        n = 600
        a = sp.random(n, n, 0.004, random_state=4, data_rvs=rng.standard_normal)
        a = (a + a.T + sp.diags(rng.uniform(-3, 3, n))).tocsr()
        self.save(a)
        exact = scipy.linalg.eigvalsh(a.toarray())
        for which, end in (("smallest", slice(None, 5)), ("largest", slice(None, -6, -1))):
            _, values, _, iterations = self.solve(more=f", pairs: 5, which: {which}")
            np.testing.assert_allclose(values, exact[end], rtol=1e-9)
            self.assertLess(iterations, 60)

    def test_rows_that_stand_alone_far_below(self):
        """Their values are known and no matter of the shift, which is that of the other rows."""
        line = path(700, 0)
        self.save(sp.block_diag([sp.diags([-1e6, 2e3]), line @ line]))
        _, values, _, iterations = self.solve(more=", pairs: 4")
        exact = (2 - 2 * np.cos(np.pi * np.arange(3) / 700)) ** 2
        np.testing.assert_allclose(values, np.r_[-1e6, exact], rtol=1e-10, atol=1e-14)
        self.assertLess(iterations, 60)

    def test_matrices_of_zeros(self):
        """No number of theirs says how far from zero a shift is to be."""
        for n in (1, 3, 10):
            self.save(sp.csr_matrix((n, n)))
            for which in ("smallest", "largest"):
                run, values, _, _ = self.solve(more=f", pairs: 1, which: {which}, verify: inertia")
                self.assertEqual(list(values), [0.0])
                said = ("1 found: none missed" if n == 1
                        else f"none before those that were found, which are 1 of at least {n} within")
                self.assertIn(said, run.stdout)

    def test_outlier_below(self):
        """The shift goes beyond a value that was found, to the others: one pivot is negative then, and known to be."""
        a = hub_row()
        self.save(a)
        run, values, _, iterations = self.solve(more=", pairs: 4")
        np.testing.assert_allclose(values, scipy.linalg.eigvalsh(a.toarray(), subset_by_index=[0, 3]), rtol=1e-6)
        self.assertLess(iterations, 60)
        self.assertGreaterEqual(run.stdout.count("direct: LDL^T"), 2, run)

    def test_pivots_that_take_more_memory_than_foreseen(self):
        """A small diagonal beside a row of large entries delays nearly all of them."""
        n = 400
        hub = sp.coo_matrix((np.full(n - 1, 1e6), (np.zeros(n - 1, int), np.arange(1, n))), shape=(n, n))
        a = (sp.kronsum(harness.laplacian(20), harness.laplacian(20)) + hub + hub.T).tocsr()
        self.save(a)
        _, values, _, _ = self.solve(more=", pairs: 4, verify: inertia")
        np.testing.assert_allclose(values, scipy.linalg.eigvalsh(a.toarray())[:4], rtol=1e-9, atol=1e-6)

    def test_pencil(self):
        line = harness.laplacian(24)
        mass = sp.diags([1 / 6, 4 / 6, 1 / 6], [-1, 0, 1], shape=(24, 24))
        a, b = (sp.kron(line, mass) + sp.kron(mass, line)).tocsr(), sp.kron(mass, mass).tocsr()
        self.save(a)
        self.save(b, "b.npz")
        exact = scipy.linalg.eigvalsh(a.toarray(), b.toarray())
        for which, end in (("smallest", slice(None, 5)), ("largest", slice(None, -6, -1))):
            run, values, _, _ = self.solve(more=f", pairs: 5, which: {which}", extra="mass: {file: b.npz}\n")
            np.testing.assert_allclose(values, exact[end], rtol=1e-8)
            self.assertRegex(run.stdout, r"direct: LDL\^T of A [+-] \S+ B")

    def test_soft_part_beside_a_stiff_one(self):
        """Values far below rounding errors of products with A, which factors know, as asked for and as auto's way."""
        k, m = cantilever(350)
        for softness in (1e-6, 1e-9, 1e-11):
            sp.save_npz(self.path("a.npz"), sp.block_diag([k, softness * k]).tocsr())
            sp.save_npz(self.path("b.npz"), sp.block_diag([m, m]).tocsr())
            exact = softness * np.array([1.87510407, 4.69409113, 7.85475744]) ** 4
            for preconditioner in ("{type: direct}", "{type: auto}"):
                _, values, _, _ = self.solve(preconditioner, more=", pairs: 3", extra="mass: {file: b.npz}\n")
                np.testing.assert_allclose(values, exact, rtol=1e-3, err_msg=f"{softness}, {preconditioner}")

    def test_largest_where_the_mass_is_graded(self):
        """The largest value is 1e16 times what a typical row of B says of it."""
        n = 500
        scale = sp.diags(10.0 ** np.random.default_rng(5).uniform(-10, 0, n))
        a, b = harness.laplacian(n), (scale @ (6 * sp.identity(n) - harness.laplacian(n)) @ scale).tocsr()
        self.save(a)
        self.save(b, "b.npz")
        exact = scipy.linalg.eigvalsh(a.toarray(), b.toarray())
        _, values, _, _ = self.solve(more=", pairs: 6, which: largest", extra="mass: {file: b.npz}\n")
        np.testing.assert_allclose(values, exact[:-7:-1], rtol=1e-9)

    def test_many_pairs_of_both_ends(self):
        """More copies than the columns that are multiplied at a time, more pairs than a window of LOBPCG holds, and few
        solves."""
        exact = grid_spectrum(13, 13, 13)
        for pairs, which in ((100, "smallest"), (100, "largest"), (300, "smallest")):
            run, values, vectors, iterations = self.solve(matrix="generate: laplacian3d, size: [13, 13, 13]",
                                                          more=f", pairs: {pairs}, which: {which}")
            np.testing.assert_allclose(values, exact[:pairs] if which == "smallest" else exact[::-1][:pairs], rtol=1e-10)
            np.testing.assert_allclose(vectors.T @ vectors if vectors.shape[0] > pairs else vectors @ vectors.T, np.eye(pairs),
                                       atol=1e-12)
            self.assertLess(iterations, 40, run)

    def test_many_pairs_beyond_wells(self):
        """Sigma passes values far out that were found, whether or not LOBPCG could go on from them."""
        grid = harness.laplacian(40)
        depths = np.zeros(1600)
        depths[np.random.default_rng(3).choice(1600, 15, replace=False)] = np.linspace(1e3, 1e4, 15)
        a = (sp.kronsum(grid, grid) - sp.diags(depths)).tocsr()
        self.save(a)
        exact = scipy.linalg.eigvalsh(a.toarray())
        for pairs in (40, 170):
            _, values, _, iterations = self.solve(more=f", pairs: {pairs}")
            np.testing.assert_allclose(values, exact[:pairs], rtol=1e-9, atol=1e-9)
            self.assertLess(iterations, 60)

    def test_star_without_diagonal(self):
        """Pairs of rows tell that A is indefinite: its own factors would put off all pivots but one."""
        n = 1500
        hub = sp.coo_matrix((np.ones(n - 1), (np.zeros(n - 1, int), np.arange(1, n))), shape=(n, n))
        self.save((hub + hub.T).tocsr())
        for which, outermost in (("smallest", -np.sqrt(n - 1.0)), ("largest", np.sqrt(n - 1.0))):
            _, values, _, iterations = self.solve(more=f", pairs: 4, which: {which}")
            np.testing.assert_allclose(values, [outermost, 0, 0, 0], rtol=1e-10, atol=1e-10)
            self.assertLess(iterations, 30)

    def test_max_iterations_counts_all_steps(self):
        for most in (1, 2, 9):
            run, _, _, iterations = self.solve(matrix="generate: laplacian2d, size: [40, 33]", code=4,
                                               more=f", pairs: 6, tolerance: 1e-11, max_iterations: {most}")
            self.assertLessEqual(iterations, most, run)

    def test_cluster_beside_constraints(self):
        """No inertia tells that copies are missing: 40 rooms that hardly touch, their lowest values within 1e-9 of each other."""
        line, rooms, k = harness.laplacian(9), 40, 42
        ring = sp.coo_matrix((np.ones(rooms), (np.arange(rooms), (np.arange(rooms) + 1) % rooms)), shape=(rooms, rooms))
        a = (sp.kron(sp.identity(rooms), sp.kronsum(line, line)) + sp.kron(graph_laplacian(ring.tocsr()), 1e-9 * sp.identity(81))).tocsr()
        self.save(a)
        constraint = np.ones((rooms * 81, 1)) / np.sqrt(rooms * 81.0)
        with h5py.File(self.path("c.h5"), "w") as file:
            file["c"] = constraint
        away = np.eye(rooms * 81) - constraint @ constraint.T
        exact = scipy.linalg.eigvalsh(away @ a.toarray() @ away + 100 * constraint @ constraint.T)[:k]
        for tolerance in (1e-3, 1e-4, 1e-6):
            _, values, _, _ = self.solve(more=f", pairs: {k}, tolerance: {tolerance}, constraints: {{file: c.h5, dataset: c}}")
            np.testing.assert_allclose(values, exact, rtol=10 * tolerance)

    def test_pencil_whose_mass_couples_more(self):
        """With sigma = 0 too, the factors have the places of both matrices."""
        a, b = harness.laplacian(80), sp.diags([0.1, 0.4, 2.0, 0.4, 0.1], [-2, -1, 0, 1, 2], shape=(80, 80))
        self.save(a)
        self.save(b.tocsr(), "b.npz")
        _, values, _, iterations = self.solve("{type: direct, shift: 0}", more=", pairs: 5", extra="mass: {file: b.npz}\n")
        np.testing.assert_allclose(values, scipy.linalg.eigvalsh(a.toarray(), b.toarray())[:5], rtol=1e-8)
        self.assertLess(iterations, 30)

    def test_auto_in_float_takes_it_in_double(self):
        self.save(path(4000, 6))
        run, values, _, _ = self.solve("{type: auto}", more=", pairs: 4, inner_precision: float")
        self.assertIn("preconditioner from here on: direct", run.stdout)
        self.assertNotIn("none instead", run.stdout)
        exact = scipy.sparse.linalg.eigsh(path(4000, 6), 4, sigma=-1e-9, return_eigenvectors=False)
        np.testing.assert_allclose(np.sort(values), np.sort(exact), rtol=1e-4, atol=1e-12)

    def test_float(self):
        _, values, _, _ = self.solve(matrix="generate: laplacian2d, size: [40, 33]", more=", pairs: 4, tolerance: 1.0e-4",
                                     extra="precision: float\n")
        np.testing.assert_allclose(values, grid_spectrum(40, 33)[:4], rtol=1e-3)

    def test_extreme_scale(self):
        """Sigma is in the units of A, whatever A is at work as."""
        self.save(1e200 * sp.kronsum(harness.laplacian(30), harness.laplacian(31)))
        run, values, _, _ = self.solve("{type: direct, shift: -1.0e+198}", more=", pairs: 3")
        np.testing.assert_allclose(values, 1e200 * grid_spectrum(31, 30)[:3], rtol=1e-9)
        self.assertIn("LDL^T of A + 1e+198 I", run.stdout)

    def auto(self, pairs, code=0):
        run, values, vectors, _ = self.solve("{type: auto}", more=f", pairs: {pairs}", code=code)
        self.assertRegex(run.stdout, "preconditioner(?: from here on)?: direct, because", run)
        self.assertRegex(run.stdout, r"(?m)^direct: LDL\^T of A ")
        return values, vectors

    def test_auto_takes_it_on_a_path_of_uneven_weights(self):
        a = path(3000, 6)
        self.save(a)
        values, _ = self.auto(6)
        exact = scipy.linalg.eigh_tridiagonal(a.diagonal(), a.diagonal(1), eigvals_only=True, select="i", select_range=(0, 5))
        np.testing.assert_allclose(values, exact, atol=1e-14)

    def test_auto_takes_it_on_a_biharmonic_line(self):
        line = harness.laplacian(4000)
        self.save(line @ line)
        values, _ = self.auto(5)
        exact = (2 - 2 * np.cos(np.pi * np.arange(1, 6) / 4001)) ** 2
        np.testing.assert_allclose(values, exact, rtol=1e-3, atol=1e-14)

    def test_auto_needs_none_on_a_wheel(self):
        """The hub's value is far beyond all others: taken out of filters, it leaves no iteration stuck."""
        a, exact = wheel(4000)
        order = np.random.default_rng(0).permutation(4000)
        self.save(a[order][:, order])
        run, values, _, _ = self.solve("{type: auto}", more=", pairs: 6")
        self.assertNotRegex(run.stdout, "(?m)^(direct: |preconditioner from here on)", run)
        np.testing.assert_allclose(values, exact[:6], atol=1e-8)

    def test_auto_repeats(self):
        if harness.options.ranks > 1:
            self.skipTest("on several ranks MUMPS deals work by the load that it meets")
        self.save(path(3000, 6))
        first, second = (self.auto(4) for _ in range(2))
        for one, other in zip(first, second):
            self.assertEqual(one.tobytes(), other.tobytes())


if __name__ == "__main__":
    harness.main()
