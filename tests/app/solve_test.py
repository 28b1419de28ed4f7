"""block-solve as users meet it: result file against SciPy, ways in for right-hand sides, what it says when it cannot."""

import os
import re
import shlex

import harness
import h5py
import numpy as np
import scipy.io
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg

UNITS = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9}


def grid(*sizes):
    """Laplacian of a grid, x fastest."""
    a = sp.csr_matrix((1, 1))
    for n in sizes:
        a = sp.kron(harness.laplacian(n), sp.identity(a.shape[0])) + sp.kron(sp.identity(n), a)
    return a.tocsr()


class SolveTest(harness.AppTest):
    def right_hand_sides(self, values, name="rhs.h5", **more):
        with h5py.File(self.path(name), "w") as file:
            file["F"] = values
            for key, other in more.items():
                file[key] = other
        return name

    def solve(self, text, *overrides, code=0, timeout=120):
        run = self.run_program(self.config(text + "output: {file: result.h5}\n"), *overrides, timeout=timeout)
        self.assertEqual(run.code, code, run)
        file = h5py.File(self.path("result.h5"))
        self.addCleanup(file.close)
        for name in ("solution", "residual_norms", "recursive_residual_norms", "rhs_norms", "history/residual_norms"):
            self.assertTrue(np.isfinite(file[name][:]).all(), f"{name}\n{run}")
        return run, file

    def check(self, file, a, f, tolerance):
        """What the file says of itself is true, and every right-hand side is solved."""
        x = file["solution"][:].astype(float)
        norms = np.linalg.norm(f, axis=0)
        residuals = np.linalg.norm(f - a @ x, axis=0)
        rounding = 1e-15 * (abs(a).sum(axis=1).max() * np.linalg.norm(x, axis=0) + norms)
        np.testing.assert_allclose(file["rhs_norms"][:], norms, rtol=1e-12)
        self.assertTrue((abs(file["residual_norms"][:] - residuals) <= rounding + 1e-9 * residuals).all())
        self.assertTrue(file["converged"][:].all())
        for status, residual, norm in zip(file["status"][:], residuals, norms):
            if status == b"converged":
                self.assertLessEqual(residual, tolerance * norm * (1 + 1e-6))
            else:
                self.assertEqual(status, b"at_accuracy_limit")
        return x


class Answers(SolveTest):
    def test_a_block_of_right_hand_sides(self):
        a = grid(14, 12, 9)
        f = np.random.default_rng(1).standard_normal((a.shape[0], 7))
        self.save(a)
        for name, options in (("none", "type: none"), ("jacobi", "type: jacobi"),
                              ("chebyshev", "type: chebyshev, degree: 4")):
            with self.subTest(preconditioner=name):
                run, file = self.solve(f"matrix: {{file: a.npz}}\nright_hand_sides: {{file: {self.right_hand_sides(f)}}}\n"
                                       f"linear_solver: {{tolerance: 1.0e-10, preconditioner: {{{options}}}}}\n")
                x = self.check(file, a, f, 1e-10)
                np.testing.assert_allclose(x, scipy.sparse.linalg.spsolve(a.tocsc(), f), atol=1e-7)
                self.assertEqual(file.attrs["program"], "block-solve")
                self.assertEqual(file.attrs["iterations"], file["history/seconds"].size)
                self.assertEqual(file["history/residual_norms"].shape, (file.attrs["iterations"], 7))
                np.testing.assert_array_equal(file["history/products"][:], file["history/active_columns"][:])
                self.assertFalse(file["history/in_float"][:].any())
                self.assertIn(name, file["preconditioners/description"][:].astype(str)[0])
                self.assertEqual(file["times/phase"][:].astype(str).tolist()[-1], "all")
                self.assertGreater(file.attrs["memory"], 1e6)
                self.assertEqual(len(re.findall(r"^ +\d+ .* converged$", run.stdout, re.MULTILINE)), 7, run)
                self.assertNotIn("eigenvalues", file)

    def test_what_is_chosen_is_in_the_file(self):
        a = grid(14, 12, 9)
        self.save(a)
        for scale in (0.0, 2.5):
            with self.subTest(decades=scale):
                d = sp.diags(10.0 ** np.random.default_rng(2).uniform(-scale, scale, a.shape[0]))
                self.save(d @ a @ d)
                run, file = self.solve("matrix: {file: a.npz}\nright_hand_sides: {random: 5}\n")
                said = re.findall(r"(?m)^preconditioner(?: from here on)?: (.*)$", run.stdout)
                self.assertGreater(len(said), 0, run)
                self.assertEqual(file["preconditioners/description"][:].astype(str).tolist(), said)
                self.assertTrue(file["preconditioners"].attrs["chosen"])
                self.assertLess(file["preconditioners/first_iteration"][-1], file.attrs["iterations"])

    def test_vectors_in_several_datasets(self):
        a = grid(20, 15)
        rng = np.random.default_rng(2)
        f, g = rng.standard_normal((300, 2)), rng.standard_normal(300)
        self.save(a)
        self.right_hand_sides(f, G=g)
        _, file = self.solve("matrix: {file: a.npz}\nright_hand_sides: {file: rhs.h5, dataset: [/G, /F]}\n")
        self.check(file, a, np.column_stack([g, f]), 1e-8)

    def test_matrix_market_array(self):
        a = grid(20, 15)
        f = np.random.default_rng(3).standard_normal((300, 3))
        self.save(a)
        scipy.io.mmwrite(self.path("f.mtx"), f)
        _, file = self.solve("matrix: {file: a.npz}\nright_hand_sides: {file: f.mtx}\n")
        self.check(file, a, f, 1e-8)

    def test_random_ones_do_not_depend_on_the_ranks(self):
        text = ("matrix: {generate: laplacian2d, size: [21, 17]}\nright_hand_sides: {random: 4, seed: 5}\n"
                "linear_solver: {tolerance: 1.0e-12}\n")
        _, file = self.solve(text)
        x = file["solution"][:]
        run = harness.run([self.config(text + "output: {file: one.h5}\n")], self.folder, ranks=1)
        self.assertEqual(run.code, 0, run)
        with h5py.File(self.path("one.h5")) as one:
            np.testing.assert_allclose(one["rhs_norms"][:], file["rhs_norms"][:], rtol=1e-14)
            np.testing.assert_allclose(one["solution"][:], x, atol=1e-9)

    def test_more_right_hand_sides_than_the_block_holds(self):
        a = grid(20, 15)
        f = np.random.default_rng(4).standard_normal((300, 23))
        self.save(a)
        self.right_hand_sides(f)
        _, file = self.solve("matrix: {file: a.npz}\nright_hand_sides: {file: rhs.h5}\nlinear_solver: {block_size: 8}\n")
        self.check(file, a, f, 1e-8)
        self.assertEqual(file["history/active_columns"][:].max(), 8)
        self.assertLess(file["iterations"][:].max(), file.attrs["iterations"])

    def test_goes_on_from_an_earlier_result(self):
        a = grid(20, 15)
        f = np.random.default_rng(5).standard_normal((300, 4))
        self.save(a)
        self.right_hand_sides(f)
        text = "matrix: {file: a.npz}\nright_hand_sides: {file: rhs.h5, dataset: /F}\n"
        _, first = self.solve(text, "linear_solver.tolerance=1e-10")
        first.close()
        os.rename(self.path("result.h5"), self.path("earlier.h5"))
        initial = "linear_solver.initial={file: earlier.h5, dataset: /solution}"
        _, again = self.solve(text, "linear_solver.tolerance=1e-9", initial)
        self.assertEqual(again.attrs["iterations"], 0)
        self.check(again, a, f, 1e-9)
        again.close()
        _, better = self.solve(text, "linear_solver.tolerance=1e-12", initial)
        self.check(better, a, f, 1e-12)
        self.assertGreater(better.attrs["iterations"], 0)

    def test_more_right_hand_sides_than_rows(self):
        a = harness.laplacian(4)
        f = np.random.default_rng(6).standard_normal((4, 11))
        self.save(a)
        self.right_hand_sides(f)
        _, file = self.solve("matrix: {file: a.npz}\nright_hand_sides: {file: rhs.h5}\n"
                             "linear_solver: {tolerance: 1.0e-12}\n")
        np.testing.assert_allclose(self.check(file, a, f, 1e-12), np.linalg.solve(a.toarray(), f), atol=1e-11)

    def test_iterations_in_float(self):
        a = grid(14, 12, 9)
        f = np.random.default_rng(4).standard_normal((a.shape[0], 5))
        self.save(a)
        text = f"matrix: {{file: a.npz}}\nright_hand_sides: {{file: {self.right_hand_sides(f)}}}\n"
        for preconditioner in ("jacobi", "chebyshev", "amg", "auto"):
            with self.subTest(preconditioner=preconditioner):
                run, file = self.solve(text, "linear_solver.inner_precision=float", "linear_solver.tolerance=1e-11",
                                       f"linear_solver.preconditioner.type={preconditioner}")
                self.check(file, a, f, 1e-11)
                self.assertIn("iterations in float", run.stdout)
                self.assertEqual(file.attrs["iterations"], file["history/seconds"].size)
                self.assertTrue(file["history/in_float"][0])
                self.assertEqual(file["history/in_float"].size, file.attrs["iterations"])
        run = self.run_program(self.config(text), "linear_solver.inner_precision=float",
                               "linear_solver.preconditioner={type: amg, precision: double}")
        self.assertEqual(run.code, 2, run)
        self.assertIn("inner_precision", run.stderr)

    def test_iterations_begin_in_float_by_themselves(self):
        """Where memory is what they wait for; not in fewer numbers, nor where the config says otherwise."""
        text = ("matrix: {generate: laplacian2d, size: [512, 512]}\nright_hand_sides: {random: 8}\n"
                "linear_solver: {max_iterations: 5, preconditioner: {type: jacobi}}\n")
        said = "iterations begin in float and end in double (inner_precision)"
        run, file = self.solve(text, code=4)
        self.assertIn(said, run.stdout)
        self.assertTrue(file["history/in_float"][:].any())
        for overrides in (("linear_solver.inner_precision=double",), ("precision=float",), ("matrix.size=[512, 400]",),
                          ("right_hand_sides.random=4", "matrix.size=[800, 700]"), ("checkpoint={file: state.h5}",),
                          ("linear_solver.preconditioner.type=amg",)):
            run, file = self.solve(text, *overrides, code=4)
            self.assertNotIn(said, run.stdout)
        # Float's range does not hold what comes of rows that differ so much.
        scale = sp.diags(np.where(np.arange(512 * 512) % 1000 == 0, 1e10, 1.0))
        self.save(scale @ grid(512, 512, 1) @ scale)
        run, file = self.solve(text, "matrix={file: a.npz}", code=4)
        self.assertNotIn(said, run.stdout)

    def test_single_precision(self):
        """Residuals are those of the float solution against A and F in double."""
        a = grid(16, 14, 9)
        f = np.random.default_rng(7).standard_normal((a.shape[0], 5))
        self.save(a)
        self.right_hand_sides(f)
        text = "matrix: {file: a.npz}\nright_hand_sides: {file: rhs.h5}\nprecision: float\n"
        _, file = self.solve(text, "linear_solver.tolerance=1e-4")
        self.check(file, a, f, 1.02e-4)
        self.assertEqual(file["solution"].dtype, np.float32)
        _, file = self.solve(text, "linear_solver.tolerance=1e-12")
        self.check(file, a, f, 1e-12)
        self.assertTrue((file["status"][:] == b"at_accuracy_limit").all())

    def test_bcsstk17(self):
        path = os.path.join(harness.options.matrices, "bcsstk17.mtx.gz")
        if not os.path.exists(path):
            self.skipTest("no bcsstk17.mtx.gz")
        a = scipy.io.mmread(path).tocsr()
        f = np.random.default_rng(8).standard_normal((a.shape[0], 16))
        self.right_hand_sides(f)
        run, file = self.solve(f"matrix: {{file: {path}}}\nright_hand_sides: {{file: rhs.h5}}\n"
                               "linear_solver: {tolerance: 1.0e-8, max_iterations: 4000}\n", timeout=300)
        x = self.check(file, a, f, 1e-8)
        scale = abs(a).sum(axis=1).max() * np.linalg.norm(x, axis=0) + np.linalg.norm(f, axis=0)
        self.assertLessEqual((np.linalg.norm(f - a @ x, axis=0) / scale).max(), 1e-12, run)
        exact = scipy.sparse.linalg.splu(a.tocsc()).solve(f)
        # ||x - x*|| <= ||r|| / lambda_min, which is 1 here.
        self.assertLessEqual(np.linalg.norm(x - exact, axis=0).max(), 2e-8 * np.linalg.norm(f, axis=0).max())


class Limits(SolveTest):
    def test_iterations_used_up(self):
        run, file = self.solve("matrix: {generate: laplacian2d, size: [40, 30]}\nright_hand_sides: {random: 6}\n"
                               "linear_solver: {max_iterations: 3}\n", code=4)
        self.assertIn("6 of 6 right-hand sides not converged (1-6): max_iterations = 3 reached", run.stderr)
        self.assertFalse(file["converged"][:].any())
        self.assertEqual(file["history/seconds"].size, 3)

    def test_accuracy_limit_counts_as_done(self):
        run, file = self.solve("matrix: {generate: laplacian2d, size: [40, 30]}\nright_hand_sides: {random: 6}\n"
                               "linear_solver: {tolerance: 0.0}\n")
        self.assertTrue((file["status"][:] == b"at_accuracy_limit").all())
        self.assertIn("at accuracy limit", run.stdout)

    def test_indefinite_matrix(self):
        path = os.path.join(harness.options.matrices, "c-62.mtx.gz")
        if not os.path.exists(path):
            self.skipTest("no c-62.mtx.gz")
        run, file = self.solve(f"matrix: {{file: {path}}}\nright_hand_sides: {{random: 16}}\n", code=4)
        self.assertRegex(run.stderr, r"16 of 16 right-hand sides not converged \(1-16\): A is not positive definite: p'Ap")
        self.assertTrue((file["residual_norms"][:] <= file["rhs_norms"][:] * (1 + 1e-12)).all())

    def test_singular_matrix(self):
        """A ring: its Laplacian maps the constants to nothing."""
        ring = harness.laplacian(200).tolil()
        ring[0, 199] = ring[199, 0] = -1.0
        ring = ring.tocsr()
        self.save(ring)
        f = np.random.default_rng(9).standard_normal((200, 4))
        self.right_hand_sides(f)
        text = "matrix: {file: a.npz}\nright_hand_sides: {file: rhs.h5}\n"
        run, file = self.solve(text, code=4)
        self.assertIn("A is singular to working precision and a right-hand side is not in its range", run.stderr)
        self.assertFalse(file["converged"][:].any())
        file.close()
        f -= f.mean(axis=0)
        self.right_hand_sides(f)
        _, file = self.solve(text)
        self.check(file, ring, f, 1e-8)


    def least_squares(self, file, a, f):
        """Solutions and residuals are those of least squares, by SciPy's dense pseudo-inverse."""
        best = f - a @ (scipy.linalg.pinvh(a.toarray(), rtol=1e-10) @ f)
        residuals = f - a @ file["solution"][:].astype(float)
        norms = np.linalg.norm(f, axis=0)
        np.testing.assert_array_less(np.linalg.norm(residuals - best, axis=0), 1.1e-8 * norms)
        np.testing.assert_allclose(file["residual_norms"][:], np.linalg.norm(residuals, axis=0), rtol=1e-6,
                                   atol=1e-8 * norms.max())

    PRECONDITIONERS = ("type: auto", "type: none", "type: jacobi", "type: chebyshev", "type: amg")

    def test_rows_without_entries(self):
        rng = np.random.default_rng(3)
        order = rng.permutation(303)
        a = sp.block_diag([grid(20, 15), sp.csr_matrix((3, 3))]).tocsr()[order][:, order]
        empty = np.flatnonzero(abs(a).sum(axis=1).A1 == 0)
        self.save(a)
        f = rng.standard_normal((303, 4))
        inside = f.copy()
        inside[empty] = 0.0
        both = inside.copy()
        both[empty[1], 2] = 1e-3
        text = "matrix: {file: a.npz}\nright_hand_sides: {file: rhs.h5}\nlinear_solver: {preconditioner: {%s}}\n"
        for options in self.PRECONDITIONERS:
            with self.subTest(preconditioner=options):
                self.right_hand_sides(f)
                run, file = self.solve(text % options, code=4)
                self.assert_named(run, f"row {empty[abs(f[empty, 0]).argmax()]} (counted from 0) of A has no entries",
                                  "null vectors")
                self.least_squares(file, a, f)
                file.close()
                self.right_hand_sides(inside)
                _, file = self.solve(text % options)
                self.check(file, a, inside, 1e-8)
                file.close()
                self.right_hand_sides(both)
                run, file = self.solve(text % options, code=4)
                self.assert_named(run, f"row {empty[1]} (counted from 0)", "right-hand side 3 is 0.001 there")
                self.assertEqual(file["converged"][:].tolist(), [True, True, False, True])
                self.least_squares(file, a, both)
                file.close()

    def test_rows_that_add_up_to_zero(self):
        """Minus the Laplacian with zero normal derivatives; a row without entries beside it."""
        weights = abs(grid(20, 15))
        weights.setdiag(0.0)
        weights.eliminate_zeros()
        neumann = (sp.diags(weights.sum(axis=1).A1) - weights).tocsr()
        rng = np.random.default_rng(4)
        f = rng.standard_normal((301, 4))
        for rows, a in ((300, neumann), (301, sp.block_diag([neumann, sp.csr_matrix((1, 1))]).tocsr())):
            self.save(a)
            for options in harness.enough(self.PRECONDITIONERS):
                for precision in ("inner_precision: double", "inner_precision: float"):
                    with self.subTest(rows=rows, preconditioner=options, precision=precision):
                        text = ("matrix: {file: a.npz}\nright_hand_sides: {file: rhs.h5}\n"
                                f"linear_solver: {{preconditioner: {{{options}}}, {precision}}}\n")
                        self.right_hand_sides(f[:rows])
                        run, file = self.solve(text, code=4)
                        self.assert_named(run, "A is singular", "least squares", "null vectors")
                        self.least_squares(file, a, f[:rows])
                        file.close()
                        inside = a @ f[:rows]
                        self.right_hand_sides(inside)
                        _, file = self.solve(text)
                        self.check(file, a, inside, 1e-8)
                        file.close()

    def assert_named(self, run, *words):
        """One last line of the program that says why and what to try, in words (mpirun has lines of its own)."""
        last = [line for line in run.stderr.splitlines() if line.startswith("block-solve: ")][-1]
        for word in words:
            self.assertIn(word, last, run)
        self.assertRegex(last, "; try: ", run)
        self.assertNotRegex(run.stdout + run.stderr, r"(?i)-?\bnan\b|\binf\b|\binfo \d", run)

    def test_indefinite_matrices_are_named_with_every_preconditioner(self):
        a = grid(20, 15) - 1.5 * sp.identity(300)
        d = sp.diags(10.0 ** np.random.default_rng(1).uniform(-5, 5, 300))
        for name, matrix in (("shifted", a), ("scaled", d @ a @ d), ("negative", -grid(20, 15))):
            self.save(matrix)
            for options in harness.enough(
                    ("type: none", "type: jacobi", "type: chebyshev", "type: amg", "type: amg, precision: double")):
                for precision in ("double", "float"):
                    if precision == "float" and name == "scaled":
                        continue  # 20 decades
                    with self.subTest(matrix=name, preconditioner=options, precision=precision):
                        run, file = self.solve("matrix: {file: a.npz}\nright_hand_sides: {random: 6}\n"
                                               f"precision: {precision}\n"
                                               f"linear_solver: {{preconditioner: {{{options}}}}}\n", code=4)
                        self.assert_named(run, "not positive definite")
                        self.assertTrue((file["residual_norms"][:] <= file["rhs_norms"][:] * (1 + 1e-6)).all())
                        file.close()

    def test_the_command_that_is_advised_solves_it(self):
        a = grid(40, 30)
        self.save(a)
        self.right_hand_sides(np.random.default_rng(2).standard_normal((1200, 3)))
        text = "matrix: {file: a.npz}\nright_hand_sides: {file: rhs.h5}\n"
        jacobi = ["linear_solver.preconditioner={type: jacobi}"]
        for first, more in ((3, []), (9, []), (3, jacobi), (40, jacobi)):
            with self.subTest(max_iterations=first, more=more):
                run, file = self.solve(text, f"linear_solver.max_iterations={first}", *more, code=4)
                file.close()
                self.assert_named(run, f"max_iterations = {first} reached")
                command = shlex.split(re.search(r"try: block-solve (.*)$", run.stderr, re.MULTILINE).group(1))
                self.assertEqual(len([word for word in command if "max_iterations" in word]), 1, command)
                again = self.run_program(*command)
                self.assertEqual(again.code, 0, again)

    def test_float_cannot_hold_tiny_right_hand_sides(self):
        self.save(grid(20, 15))
        self.right_hand_sides(1e-170 * np.random.default_rng(3).standard_normal((300, 2)))
        run, file = self.solve("matrix: {file: a.npz}\nright_hand_sides: {file: rhs.h5}\nprecision: float\n", code=4)
        # To float these right-hand sides are zero: nothing of them is solved.
        self.assert_named(run, "the largest relative residual left is 1.0e+00", "precision=double")
        self.assertFalse(file["converged"][:].any())


class Scales(SolveTest):
    def test_right_hand_sides_of_any_size(self):
        a = grid(20, 15)
        self.save(a)
        f = np.random.default_rng(4).standard_normal((300, 6))
        sizes = np.array([1e-300, 1e-170, 1e-120, 1.0, 1e155, 1e300])
        self.right_hand_sides(f * sizes)
        exact = np.linalg.solve(a.toarray(), f)
        for inner in ("double", "float"):
            _, file = self.solve("matrix: {file: a.npz}\nright_hand_sides: {file: rhs.h5}\n",
                                 f"linear_solver.inner_precision={inner}")
            self.assertTrue((file["status"][:] == b"converged").all())
            np.testing.assert_allclose(file["solution"][:] / sizes, exact, atol=1e-6 * abs(exact).max())
            np.testing.assert_allclose(file["rhs_norms"][:] / sizes, np.linalg.norm(f, axis=0), rtol=1e-12)
            self.assertTrue((file["residual_norms"][:] <= 1e-8 * file["rhs_norms"][:]).all())
            file.close()

    def test_rows_and_columns_of_any_size(self):
        rng = np.random.default_rng(5)
        f = rng.standard_normal((300, 3))
        for decades in (5, 10, 15):
            scale = sp.diags(10.0 ** rng.uniform(-decades / 2, decades / 2, 300))
            a = (scale @ grid(20, 15) @ scale).tocsr()
            a = (0.5 * (a + a.T)).tocsr()
            self.save(a)
            self.right_hand_sides(scale @ f)
            for inner in ("double", "float"):
                with self.subTest(decades=decades, inner=inner):
                    _, file = self.solve("matrix: {file: a.npz}\nright_hand_sides: {file: rhs.h5}\n",
                                         f"linear_solver.inner_precision={inner}")
                    self.check(file, a, scale @ f, 1e-8)
                    file.close()


class Refusals(SolveTest):
    MATRIX = "matrix: {generate: laplacian1d, size: [60]}\n"

    def refuse(self, text, *words, overrides=(), code=2):
        run = self.run_program(self.config(self.MATRIX + text + "output: {file: result.h5}\n"), *overrides)
        self.assert_refused(run, code, words)

    def test_no_right_hand_sides(self):
        self.refuse("", "right_hand_sides", "{random: 16}")

    def test_wrong_number_of_rows(self):
        self.right_hand_sides(np.ones((59, 3)))
        self.refuse("right_hand_sides: {file: rhs.h5}\n", "rhs.h5", "59 rows", "60")

    def test_not_finite(self):
        values = np.ones((60, 3))
        values[41, 1] = np.nan
        self.right_hand_sides(values)
        self.refuse("right_hand_sides: {file: rhs.h5}\n", "rhs.h5", "nan")

    def test_missing_file(self):
        self.refuse("right_hand_sides: {file: nowhere.h5}\n", self.path("nowhere.h5"))

    def test_missing_dataset(self):
        self.right_hand_sides(np.ones((60, 3)))
        self.refuse("right_hand_sides: {file: rhs.h5, dataset: /G}\n", "rhs.h5", "/G")

    def test_no_vectors(self):
        self.right_hand_sides(np.ones((60, 0)))
        self.refuse("right_hand_sides: {file: rhs.h5, dataset: /F}\n", "rhs.h5")

    def test_initial_guess_for_other_right_hand_sides(self):
        self.right_hand_sides(np.ones((60, 3)))
        self.refuse("right_hand_sides: {random: 4}\nlinear_solver: {initial: {file: rhs.h5}}\n", "linear_solver.initial",
                    "3 vectors", "4 right-hand sides")

    def test_misspelt_key(self):
        self.refuse("right_hand_sides: {random: 4}\nlinear_solver: {tolerence: 1.0e-6}\n", "run.yaml:3",
                    "linear_solver.tolerence", "did you mean 'tolerance'")

    def test_matrix_that_is_not_symmetric(self):
        path = os.path.join(harness.options.matrices, "p2p-Gnutella31.mtx.gz")
        if not os.path.exists(path):
            self.skipTest("no p2p-Gnutella31.mtx.gz")
        run = self.run_program(self.config(f"matrix: {{file: {path}}}\nright_hand_sides: {{random: 2}}\n"
                                           "output: {file: result.h5}\n"))
        self.assert_refused(run, 2, ["p2p-Gnutella31", "symmetric"])

    def test_output_folder_is_missing(self):
        self.refuse("right_hand_sides: {random: 2}\n", "does not exist", overrides=["output.file=no/result.h5"])

    def test_sections_of_the_other_program_are_accepted(self):
        run = self.run_program(self.config(self.MATRIX + "right_hand_sides: {random: 2}\neigensolver: {pairs: 4}\n"
                                           "mass: {file: nowhere.h5}\n"))
        self.assertEqual(run.code, 0, run)


class Check(SolveTest):
    def sizes(self, text, pattern):
        found = re.search(pattern, text)
        self.assertIsNotNone(found, text)
        return [float(value) * UNITS[unit] for value, unit in re.findall(r"([\d.]+) ([kMG]?B)\b", found.group(0))]

    def test_memory_is_predicted(self):
        for more in ("{}", "{preconditioner: {type: chebyshev}}", "{block_size: 8, preconditioner: {type: none}}"):
            with self.subTest(linear_solver=more):
                config = self.config("matrix: {generate: laplacian3d, size: [50, 50, 50]}\n"
                                     f"right_hand_sides: {{random: 24}}\nlinear_solver: {more}\n")
                check = self.run_program("--check", config)
                self.assertEqual(check.code, 0, check)
                self.assertIn("nothing was solved", check.stdout)
                self.assertIn("random: 24", check.stdout)
                predicted = self.sizes(check.stdout, r"memory that a rank will need: .*")[0]
                run = self.run_program(config, "linear_solver.max_iterations=3")
                self.assertEqual(run.code, 4, run)
                peak = self.sizes(run.stdout, r"peak memory of a rank: .*")[0]
                self.assertLess(abs(predicted - peak), 0.2 * peak, f"predicted {predicted:g}, taken {peak:g}\n{run}")


class Configs(SolveTest):
    TESTED = {"block_solve.yaml", "block_solve_own.yaml"}

    def config_path(self, name):
        return os.path.join(os.path.abspath(harness.options.source), "configs", name)

    def test_none_is_left_out(self):
        folder = self.config_path("")
        ours = set()
        for name in (name for name in os.listdir(folder) if name.endswith(".yaml")):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                if "\nright_hand_sides:" in file.read():
                    ours.add(name)
        self.assertEqual(ours, self.TESTED)

    def test_block_solve(self):
        run = self.run_program(self.config_path("block_solve.yaml"), timeout=240)
        self.assertEqual(run.code, 0, run)
        with h5py.File(self.path("solution.h5")) as file:
            self.assertEqual(file["solution"].shape, (48**3, 16))
            self.assertTrue((file["residual_norms"][:] <= 1e-8 * file["rhs_norms"][:]).all())

    def test_block_solve_own(self):
        """The lines of Python in its comment, as they are."""
        with open(self.config_path("block_solve_own.yaml"), encoding="utf-8") as file:
            lines = [line[4:].rstrip("\n") for line in file if line.startswith("#   ") and "mpirun" not in line]
        split = next(i for i, line in enumerate(lines) if "x.h5" in line)
        scope = {}
        os.chdir(self.folder)
        exec("\n".join(lines[:split]), scope)  # pylint: disable=exec-used
        run = self.run_program(self.config_path("block_solve_own.yaml"))
        self.assertEqual(run.code, 0, run)
        exec("\n".join(lines[split:]).replace("print(", "largest = ("), scope)  # pylint: disable=exec-used
        self.assertLess(scope["largest"], 1e-8)


if __name__ == "__main__":
    harness.main()
