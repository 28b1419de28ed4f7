"""Entries from 1e-300 to 1e300, and matrices so small or plain that nothing is left to iterate: right values, exit 0."""

import itertools
import os

import harness
import h5py
import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg

PRECONDITIONERS = ("none", "jacobi", "chebyshev", "amg")
EIGEN_PRECONDITIONERS = PRECONDITIONERS + ("auto",)


def mass(n):
    """Of linear elements on a line, all of one size."""
    return sp.diags([1.0, 4.0, 1.0], [-1, 0, 1], shape=(n, n), format="csr") / 6.0


class ExtremeTest(harness.AppTest):
    def eigen(self, text, **extra):
        result = self.run_program(self.config("output: {file: result.h5}\n" + text), **extra)
        self.assertEqual(result.code, 0, f"{text}\n{result}")
        # The folder's name is drawn, and may have such letters.
        said = result.stdout.replace(self.folder, "").lower().replace("info", "")
        for word in ("nan", "inf"):
            self.assertNotIn(word, said, result)
        with h5py.File(self.path("result.h5")) as file:
            names = ["eigenvalues", "residual_norms", "error_bounds", "eigenvectors", "history/eigenvalues"]
            return {name: file[name][()] for name in names if name in file}

    def solve(self, text):
        path = os.path.join(os.path.dirname(harness.options.program), "block-solve")
        launcher = harness.command([])[:-1]
        name = self.config("output: {file: result.h5}\n" + text)
        result = harness.run_command(launcher + [path, name], self.folder)
        self.assertEqual(result.code, 0, f"{text}\n{result}")
        with h5py.File(self.path("result.h5")) as file:
            return {name: file[name][()] for name in ("solution", "residual_norms", "rhs_norms")}


class Vectors(ExtremeTest):
    def test_start_vectors_and_constraints_of_any_size(self):
        """Their squares are out of range."""
        n = 400
        name = self.save(harness.laplacian(n))
        exact = 2.0 - 2.0 * np.cos(np.pi * np.arange(1, 6) / (n + 1))
        first = np.sin(np.pi * np.arange(1, n + 1) / (n + 1))[:, None]
        guess = np.random.default_rng(1).standard_normal((n, 6))
        for size in (1e160, 1e-200, 1e300):
            with h5py.File(self.path("vectors.h5"), "w") as file:
                file["X"], file["C"] = size * guess, size * first
            for precision in ("double", "float"):
                found = self.eigen(f"matrix: {{file: {name}}}\nprecision: {precision}\neigensolver: {{pairs: 4, "
                                   f"tolerance: {1e-8 if precision == 'double' else 1e-3}, "
                                   "initial: {file: vectors.h5, dataset: /X}, "
                                   "constraints: {file: vectors.h5, dataset: /C}}\n")
                np.testing.assert_allclose(found["eigenvalues"], exact[1:],
                                           rtol=1e-7 if precision == "double" else 1e-2)

    def test_constraints_that_are_no_eigenvectors(self):
        """Residuals along them stay: the run ends soon, and says so."""
        name = self.save(sp.kronsum(harness.laplacian(70), harness.laplacian(70)))
        with h5py.File(self.path("c.h5"), "w") as file:
            file["C"] = np.random.default_rng(1).standard_normal((4900, 3))
        for preconditioner in ("auto", "jacobi"):
            result = self.run_program(self.config(
                f"matrix: {{file: {name}}}\neigensolver: {{pairs: 6, preconditioner: {{type: {preconditioner}}}, "
                "constraints: {file: c.h5}}\n"), timeout=40)
            self.assertEqual(result.code, 4, result)
            self.assertIn("lies along the constraints", result.stderr)
            self.assertNotIn("tolerance=", result.stderr)

    def test_solutions_that_are_too_small(self):
        """What is lost in them is not to be had of smaller numbers."""
        with h5py.File(self.path("f.h5"), "w") as file:
            file["F"] = np.full((400, 1), 1e-320)
        name = self.save(harness.laplacian(400) + sp.identity(400))
        path = os.path.join(os.path.dirname(harness.options.program), "block-solve")
        config = self.config(f"matrix: {{file: {name}}}\nright_hand_sides: {{file: f.h5}}\n")
        result = harness.run_command(harness.command([])[:-1] + [path, config], self.folder)
        self.assertEqual(result.code, 4, result)
        self.assertIn("numbers nearer to 1", result.stderr)

    def test_solutions_below_the_range(self):
        with h5py.File(self.path("f.h5"), "w") as file:
            file["F"] = np.full((400, 2), [1.0, 1e-100])
        name = self.save(1e280 * (harness.laplacian(400) + sp.identity(400)))
        path = os.path.join(os.path.dirname(harness.options.program), "block-solve")
        config = self.config(f"matrix: {{file: {name}}}\nright_hand_sides: {{file: f.h5}}\noutput: {{file: x.h5}}\n")
        result = harness.run_command(harness.command([])[:-1] + [path, config], self.folder)
        self.assertEqual(result.code, 4, result)
        self.assertIn("the solution of right-hand side 2 would have a norm near 2^-1259", result.stderr)
        self.assertIn("below the range of double", result.stderr)
        with h5py.File(self.path("x.h5")) as file:
            solution = file["solution"][:]
        a = (harness.laplacian(400) + sp.identity(400)).tocsc()
        np.testing.assert_allclose(solution[:, 0] * 1e280, scipy.sparse.linalg.spsolve(a, np.ones(400)), rtol=1e-7)
        np.testing.assert_array_equal(solution[:, 1], 0.0)

    def test_entries_below_the_range_in_large_rows(self):
        """Residuals are those of the solution as it is written, with what it has lost."""
        f = np.array([[1e-305, 1.0], [1.23456789e-293, 1.0]])
        with h5py.File(self.path("f.h5"), "w") as file:
            file["F"] = f
        name = self.save(sp.diags([1e-10, 1e25]))
        path = os.path.join(os.path.dirname(harness.options.program), "block-solve")
        config = self.config(f"matrix: {{file: {name}}}\nright_hand_sides: {{file: f.h5}}\noutput: {{file: x.h5}}\n")
        result = harness.run_command(harness.command([])[:-1] + [path, config], self.folder)
        with h5py.File(self.path("x.h5")) as file:
            residual = f - np.array([[1e-10], [1e25]]) * file["solution"][:]
            norms = file["residual_norms"][:]
        lost = abs(residual[1, 0])
        self.assertGreater(lost, 1e-8 * 1.2e-293, "nothing is lost: no test")
        self.assertEqual(result.code, 4, result)
        self.assertIn("below the range", result.stderr)
        np.testing.assert_allclose(norms[0] * 1e293, lost * 1e293, rtol=1e-6)
        self.assertLess(norms[1], 1e-8)

    def test_a_guess_better_than_what_conjugate_gradients_find(self):
        """A beam of condition 1e12: rounding errors are all that is left, and far less of them by factors."""
        rows = 1000
        second = sp.diags([1.0, -2.0, 1.0], [-1, 0, 1], (rows, rows))
        a = (second.T @ second).tocsc()
        f = np.sin(np.pi * np.arange(1, rows + 1) / (rows + 1))[:, None]
        factors = scipy.sparse.linalg.splu(a)
        guess = factors.solve(f)
        guess += factors.solve(f - a @ guess)
        with h5py.File(self.path("f.h5"), "w") as file:
            file["F"], file["x"] = f, guess
        found = self.solve(f"matrix: {{file: {self.save(a)}}}\nright_hand_sides: {{file: f.h5, dataset: F}}\n"
                           "linear_solver: {initial: {file: f.h5, dataset: x}}\n")
        left = np.linalg.norm(f - a @ guess)
        self.assertLess(np.linalg.norm(f - a @ found["solution"]), 3.0 * left)

    def test_the_gap_of_a_probe_beside_zero(self):
        """A multiple of a value that is zero but for rounding errors says nothing."""
        line = harness.laplacian(400).tolil()
        line[0, 0] = line[399, 399] = 1.0
        name = self.save(line)
        result = self.run_program(self.config(f"matrix: {{file: {name}}}\neigensolver: {{pairs: 1, verify: probe}}\n"))
        self.assertEqual(result.code, 0, result)
        self.assertIn("no pair missed with confidence", result.stdout)
        self.assertNotIn("(relative)", result.stdout)


class Range(ExtremeTest):
    n = 400

    def expect_pairs(self, found, a, b, which, scale_a, scale_b, accuracy):
        """Of scale_a a and scale_b b."""
        n = a.shape[0]
        exact = scipy.linalg.eigh(a.toarray(), None if b is None else b.toarray(), eigvals_only=True)
        exact = exact[:4] if which == "smallest" else exact[::-1][:4]
        values = found["eigenvalues"] * (scale_b / scale_a)
        np.testing.assert_allclose(values, exact, rtol=accuracy, err_msg=str((scale_a, scale_b)))
        x = found["eigenvectors"].astype(float) * np.sqrt(scale_b)
        product = x if b is None else b @ x
        tolerance = 1e-8 if found["eigenvectors"].dtype == np.float64 else 1e-4
        np.testing.assert_allclose(x.T @ product, np.eye(4), atol=tolerance)
        residuals = np.linalg.norm(a @ x - product * values, axis=0)
        said = found["residual_norms"] * np.sqrt(scale_b) / scale_a
        np.testing.assert_allclose(said, residuals, atol=1e-13 + (0.0 if tolerance == 1e-8 else 1e-7), rtol=0.1)
        errors = np.abs(values - exact)
        self.assertTrue((errors <= found["error_bounds"] * (scale_b / scale_a) + 1e-12).all())
        self.assertEqual(x.shape[0], n)

    def test_both_ends_of_the_range(self):
        a = harness.laplacian(self.n)
        for scale, which in itertools.product((1e-300, 1e-160, 1e160, 1e300), ("smallest", "largest")):
            self.save(scale * a)
            for kind in EIGEN_PRECONDITIONERS if which == "smallest" and abs(np.log10(scale)) == 300 else ("jacobi",):
                with self.subTest(scale=scale, which=which, kind=kind):
                    found = self.eigen("matrix: {file: a.npz}\neigensolver: {pairs: 4, which: %s, max_iterations: "
                                       "5000, preconditioner: {type: %s}}\n" % (which, kind))
                    self.expect_pairs(found, a, None, which, scale, 1.0, 1e-9)

    def test_an_indefinite_matrix_with_amg_shifted_in_its_own_units(self):
        a = harness.laplacian(self.n) - 0.5 * sp.identity(self.n)
        self.save(1e200 * a)
        found = self.eigen("matrix: {file: a.npz}\neigensolver: {pairs: 4, max_iterations: 5000, preconditioner: "
                           "{type: amg, shift: -0.6e+200}}\n")
        self.expect_pairs(found, a, None, "smallest", 1e200, 1.0, 1e-9)

    def test_generalized(self):
        a, b = harness.laplacian(self.n), mass(self.n)
        for scale_a, scale_b in ((1e-300, 1.0), (1e300, 1e200), (1.0, 1e-280), (1e-100, 1e100), (1e-290, 1e-300)):
            self.save(scale_a * a)
            self.save(scale_b * b, "b.npz")
            with self.subTest(a=scale_a, b=scale_b):
                found = self.eigen("matrix: {file: a.npz}\nmass: {file: b.npz}\neigensolver: {pairs: 4, "
                                   "max_iterations: 5000}\n")
                self.expect_pairs(found, a, b, "smallest", scale_a, scale_b, 1e-9)

    def test_beyond_the_range_of_float(self):
        a = harness.laplacian(100)
        for scale in (1e-300, 1e-30, 1e30, 1e300):
            self.save(scale * a)
            for more in ("eigensolver: {pairs: 4, inner_precision: float, max_iterations: 5000}\n",
                         "eigensolver: {pairs: 4, tolerance: 1.0e-4, max_iterations: 5000}\nprecision: float\n"):
                with self.subTest(scale=scale, more=more):
                    found = self.eigen("matrix: {file: a.npz}\n" + more)
                    self.expect_pairs(found, a, None, "smallest", scale, 1.0, 1e-9 if "inner" in more else 1e-3)

    def test_powers_of_two_change_no_bit(self):
        a, b = harness.laplacian(self.n), mass(self.n)
        results = []
        for exponent in (-900, 900):
            self.save(2.0**exponent * a)
            self.save(2.0 ** (exponent // 2) * b, "b.npz")
            results.append(self.eigen("matrix: {file: a.npz}\nmass: {file: b.npz}\neigensolver: {pairs: 4, "
                                      "max_iterations: 5000}\n"))
        values = [2.0 ** (-exponent // 2) * found["eigenvalues"] for exponent, found in zip((-900, 900), results)]
        np.testing.assert_array_equal(*values)
        vectors = [2.0 ** (exponent // 4) * found["eigenvectors"] for exponent, found in zip((-900, 900), results)]
        np.testing.assert_array_equal(*vectors)

    def test_an_absolute_tolerance_is_one_of_the_matrix_given(self):
        a = harness.laplacian(100)
        self.save(1e-200 * a)
        found = self.eigen("matrix: {file: a.npz}\neigensolver: {pairs: 4, convergence: absolute, tolerance: 1.0e-205, "
                           "max_iterations: 5000}\n")
        self.assertTrue((found["residual_norms"] <= 1e-205).all())
        self.assertGreater(found["residual_norms"].max(), 1e-210)  # and no more was done than that

    def test_linear_systems(self):
        a = harness.laplacian(100)
        x = np.random.default_rng(1).standard_normal((100, 3))
        with h5py.File(self.path("f.h5"), "w") as file:
            file["f"] = a @ x
            file["x"] = x * (1.0 + 1e-3)
        for scale in (1e-290, 1e-30, 1e30, 1e300):
            self.save(scale * a)
            with h5py.File(self.path("f.h5"), "r+") as file:
                file["x"][...] = x / scale * (1.0 + 1e-3)
            for kind, more in (("none", ""), ("jacobi", "inner_precision: float, "), ("chebyshev", ""), ("amg", ""),
                               ("chebyshev", "initial: {file: f.h5, dataset: x}, ")):
                with self.subTest(scale=scale, kind=kind, more=more):
                    found = self.solve("matrix: {file: a.npz}\nright_hand_sides: {file: f.h5, dataset: f}\n"
                                       "linear_solver: {%stolerance: 1.0e-10, preconditioner: {type: %s}}\n"
                                       % (more, kind))
                    np.testing.assert_allclose(found["solution"] * scale, x, rtol=0, atol=1e-6)
                    np.testing.assert_allclose(found["rhs_norms"], np.linalg.norm(a @ x, axis=0), rtol=1e-12)

    def test_eigenvalues_beyond_the_range(self):
        """Every entry is a number, the largest eigenvalue is not."""
        self.save(0.8e308 * harness.laplacian(60))
        name = self.config("matrix: {file: a.npz}\neigensolver: {pairs: 2}\noutput: {file: result.h5}\n")
        result = self.run_program(name, "eigensolver.which=largest")
        self.assertEqual(result.code, 3, result)
        self.assertIn("an eigenvalue is near 2^1024, out of the range of double: divide the matrix by a constant",
                      result.stderr, result)
        self.assertFalse(os.path.exists(self.path("result.h5")), result)
        result = self.run_program(name)
        self.assertEqual(result.code, 0, result)

    def test_what_does_not_fit_is_refused(self):
        self.save(1e300 * harness.laplacian(50))
        self.save(1e-300 * mass(50), "b.npz")
        result = self.run_program(self.config("matrix: {file: a.npz}\nmass: {file: b.npz}\neigensolver: {pairs: 2}\n"))
        self.assert_refused(result, 2, ["range of double"])
        self.save(harness.laplacian(50))
        result = self.run_program("run.yaml", "precision=float")
        self.assert_refused(result, 2, ["range of float", "precision: double"])


class Small(ExtremeTest):
    def test_zero_and_identity(self):
        for n in (1, 5, 600):
            pairs = min(n, 3)
            for matrix, value in ((sp.csr_matrix((n, n)), 0.0), (sp.identity(n, format="csr"), 1.0)):
                self.save(matrix)
                self.save(sp.identity(n), "b.npz")
                for kind, with_mass in itertools.product(EIGEN_PRECONDITIONERS, (False, True)):
                    with self.subTest(n=n, value=value, kind=kind, mass=with_mass):
                        found = self.eigen("matrix: {file: a.npz}\n" + ("mass: {file: b.npz}\n" if with_mass else "") +
                                           "eigensolver: {pairs: %d, preconditioner: {type: %s}}\n" % (pairs, kind))
                        np.testing.assert_allclose(found["eigenvalues"], np.full(pairs, value), atol=1e-13)
                        x = found["eigenvectors"]
                        np.testing.assert_allclose(x.T @ x, np.eye(pairs), atol=1e-12)

    def test_all_pairs_of_tiny_matrices(self):
        generator = np.random.default_rng(3)
        for n, with_mass, which in itertools.product(range(1, 6), (False, True), ("smallest", "largest")):
            a = generator.standard_normal((n, n))
            a += a.T
            root = generator.standard_normal((n, n))
            b = root @ root.T + np.eye(n)
            self.save(a)
            self.save(b, "b.npz")
            with self.subTest(n=n, mass=with_mass, which=which):
                found = self.eigen("matrix: {file: a.npz}\n" + ("mass: {file: b.npz}\n" if with_mass else "") +
                                   "eigensolver: {pairs: %d, which: %s}\n" % (n, which))
                exact = scipy.linalg.eigh(a, b if with_mass else None, eigvals_only=True)
                exact = exact if which == "smallest" else exact[::-1]
                np.testing.assert_allclose(found["eigenvalues"], exact, atol=1e-11 * np.abs(exact).max())

    def test_linear_systems(self):
        generator = np.random.default_rng(4)
        for n, kind in itertools.product((1, 2, 5, 200), PRECONDITIONERS):
            f = generator.standard_normal((n, 2))
            with h5py.File(self.path("f.h5"), "w") as file:
                file["f"] = f
            self.save(2.0 * sp.identity(n))
            with self.subTest(n=n, kind=kind):
                found = self.solve("matrix: {file: a.npz}\nright_hand_sides: {file: f.h5}\nlinear_solver: "
                                   "{preconditioner: {type: %s}}\n" % kind)
                np.testing.assert_allclose(found["solution"], f / 2.0, atol=1e-12)

    def test_zero_systems(self):
        """The zero matrix solves for zero right-hand sides alone."""
        with h5py.File(self.path("f.h5"), "w") as file:
            file["f"] = np.zeros((30, 2))
        self.save(sp.csr_matrix((30, 30)))
        for kind in PRECONDITIONERS:
            with self.subTest(kind=kind):
                found = self.solve("matrix: {file: a.npz}\nright_hand_sides: {file: f.h5}\nlinear_solver: "
                                   "{preconditioner: {type: %s}}\n" % kind)
                np.testing.assert_array_equal(found["solution"], np.zeros((30, 2)))


if __name__ == "__main__":
    harness.main()
