"""block-solve with its default preconditioner, auto: right answers, what was taken with its reason, the same bits from run
to run."""

import re

import harness
import h5py
import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg


class AutoSolveTest(harness.AppTest):
    def solve(self, text, *overrides, code=0, name="out.h5"):
        run = self.run_program(self.config(text + "output: {file: %s}\n" % name), *overrides, timeout=200)
        self.assertEqual(run.code, code, run)
        self.assertEqual(run.errors(), [], run)
        with h5py.File(self.path(name)) as file:
            self.assertEqual(bool(file["converged"][:].all()), code == 0)
            return run, file["solution"][:], int(file.attrs["iterations"])

    def choices(self, run):
        found = [line for line in run.stdout.splitlines() if re.match(r"preconditioner( from here on)?: ", line)]
        self.assertTrue(found and found[0].startswith("preconditioner: "), run)
        for line in found:
            self.assertRegex(line, r"^preconditioner( from here on)?: .*, because \w")
        return found

    def system(self, a, sides=3):
        self.save(a)
        f = np.random.default_rng(1).standard_normal((a.shape[0], sides))
        with h5py.File(self.path("f.h5"), "w") as file:
            file["F"] = f
        return "matrix: {file: a.npz}\nright_hand_sides: {file: f.h5}\n", f

    def test_grids_get_multigrid(self):
        for size, rows in (("2d, size: [90, 80]", 7200), ("3d, size: [44, 42, 40]", 73920)):
            run, x, iterations = self.solve(f"matrix: {{generate: laplacian{size}}}\nright_hand_sides: {{random: 8}}\n")
            self.assertRegex(self.choices(run)[0], "^preconditioner: amg .*, because rows add up to zero")
            self.assertEqual(len(self.choices(run)), 1)
            self.assertLess(iterations, 20)
            self.assertEqual(x.shape, (rows, 8))

    def test_what_two_ways_find_is_believed(self):
        """Rows over 20 decades each way: no digit of the solutions is certain, which more of the same does not change."""
        line = harness.laplacian(40)
        scale = sp.diags(10.0 ** np.random.default_rng(5).uniform(-10.0, 10.0, 1600))
        text, _ = self.system((scale @ sp.kronsum(line, line) @ scale).tocsr(), sides=2)
        run = self.run_program(self.config(text + "output: {file: out.h5}\n"), timeout=200)
        self.assertEqual(run.code, 4, run)
        if "direct" not in run.stdout:
            self.skipTest("this build has no MUMPS, whose factors are the second way")
        self.assertRegex(run.stderr, "a solution is so large that rounding errors.*; try: another scaling")
        self.assertLessEqual(len(self.choices(run)), 2)

    def test_rigid_body_modes_of_a_generated_body(self):
        run, _, iterations = self.solve("matrix: {generate: elasticity3d, size: [14, 8, 8]}\nright_hand_sides: {random: 2}\n",
                                        "linear_solver.tolerance=1e-12")
        self.choices(run)
        self.assertLess(iterations, 200)

    def test_dominant_diagonals_get_jacobi(self):
        random = sp.random(3000, 3000, 1e-3, random_state=1, format="csr")
        beside = random + random.T
        a = (sp.diags(2.0 * beside.sum(axis=1).A1 + 1.0) - beside).tocsr()
        text, f = self.system(a)
        run, x, iterations = self.solve(text)
        self.assertEqual(len(self.choices(run)), 1)
        self.assertRegex(self.choices(run)[0], "^preconditioner: jacobi, because the diagonal dominates")
        self.assertLess(iterations, 30)
        np.testing.assert_allclose(x, sp.linalg.spsolve(a.tocsc(), f), atol=1e-7 * abs(x).max())

    def test_scaled_rows_get_jacobi(self):
        line = harness.laplacian(25)
        d = sp.diags(10.0 ** np.random.default_rng(2).uniform(-3, 3, 625))
        a = (d @ sp.kronsum(line, line) @ d).tocsr()
        a = (0.5 * (a + a.T)).tocsr()
        text, f = self.system(a)
        run, x, _ = self.solve(text)
        self.assertRegex(self.choices(run)[0], "^preconditioner: jacobi, because rows differ in size")
        self.assertTrue((np.linalg.norm(f - a @ x, axis=0) <= 1.01e-8 * np.linalg.norm(f, axis=0)).all())

    def beam(self, length):
        """Fourth differences: their condition is the square of the Laplacian's, and rows do not add up to zero
        for the weights beside them."""
        line = harness.laplacian(length)
        return (line @ line + 1e-6 * sp.diags(np.linspace(1.0, 2.0, length))).tocsr()

    def test_slow_progress_changes_the_preconditioner(self):
        a = self.beam(4000)
        text, f = self.system(a)
        run, x, _ = self.solve(text, "linear_solver.max_iterations=20000")
        self.assertGreater(len(self.choices(run)), 1, run)
        self.assertRegex(self.choices(run)[1], "^preconditioner from here on: .* comes forward too slowly")
        self.assertTrue((np.linalg.norm(f - a @ x, axis=0) <= 1.01e-8 * np.linalg.norm(f, axis=0)).all())

    def uneven_beam(self, seed, length, sides, rough, size):
        """Of condition 1e13 and more; the sides in `rough` are met only by solutions beyond the precision."""
        curvature = sp.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(length, length))
        random = np.random.default_rng(seed)
        a = (curvature.T @ sp.diags(10.0 ** random.uniform(-3, 3, length)) @ curvature).tocsr()
        a = (0.5 * (a + a.T)).tocsr()
        text, _ = self.system(a)
        f = a @ random.standard_normal((length, sides))
        f[:, rough] = size * random.standard_normal((length, len(rough)))
        with h5py.File(self.path("f.h5"), "w") as file:
            file["F"] = f
        return text, a, f

    def expect_others_solved(self, beam, rough, tolerance):
        text, a, f = beam
        run = self.run_program(self.config(text + "output: {file: out.h5}\n"), f"linear_solver.tolerance={tolerance}",
                               timeout=200)
        if "direct" not in run.stdout:
            self.skipTest("this build has no MUMPS, whose factors solve this")
        self.assertEqual(run.errors(), [], run)
        solvable = np.isin(np.arange(f.shape[1]), rough, invert=True)
        with h5py.File(self.path("out.h5")) as file:
            x, converged = file["solution"][:], file["status"][:] == b"converged"
        met = np.linalg.norm(f - a @ x, axis=0) <= 1.01 * tolerance * np.linalg.norm(f, axis=0)
        self.assertTrue((converged & met)[solvable].all(), run)
        self.assertTrue(met[converged].all(), run)
        self.assertNotIn("because direct", run.stdout)

    def test_sides_without_a_solution_keep_none_from_the_others(self):
        """What earlier ways leave of these along vectors of tiny eigenvalues is nothing for factors to begin from."""
        for seed, rough in (2, [0]), (4, [0]), (5, [0, 2, 6]):
            self.expect_others_solved(self.uneven_beam(seed, 1500, 8, rough, 1.0), rough, 1e-8)

    def test_nor_do_they_within_a_block_of_factors(self):
        """In a block a direction that is mapped to nothing grows into all; which beams show it depends on roundings."""
        rough = [3, 5, 6, 8, 11]
        for seed in 2, 6, 7, 11:
            self.expect_others_solved(self.uneven_beam(seed, 3000, 12, rough, 100.0), rough, 1e-10)

    def test_an_indefinite_matrix_is_named(self):
        line = harness.laplacian(30)
        text, _ = self.system(sp.kronsum(line, line).tocsr() - 1.5 * sp.identity(900))
        run, _, _ = self.solve(text, code=4)
        last = [line for line in run.stderr.splitlines() if line.startswith("block-solve: ")][-1]
        self.assertRegex(last, "A is not positive definite: .*; try: ")

    def test_check_says_what_is_chosen(self):
        text = "matrix: {generate: laplacian3d, size: [24, 22, 20]}\nright_hand_sides: {random: 4}\n"
        check = self.run_program("--check", self.config(text))
        self.assertEqual(check.code, 0, check)
        self.assertIn("type: auto", check.stdout)
        self.assertEqual(self.choices(check), self.choices(self.solve(text)[0]))

    def test_what_auto_has_tried_is_not_advised(self):
        run, _, _ = self.solve("matrix: {generate: laplacian2d, size: [90, 80]}\nright_hand_sides: {random: 4}\n",
                               "linear_solver.max_iterations=3", code=4)
        self.assertRegex(run.stderr, r"max_iterations = 3 reached; try: .*max_iterations=1000")
        self.assertNotIn("type: amg", run.stderr)

    def test_runs_repeat(self):
        texts = ["matrix: {generate: laplacian3d, size: [24, 22, 20]}\nright_hand_sides: {random: 4}\n",
                 self.system(self.beam(4000))[0] + "linear_solver: {max_iterations: 20000}\n"]
        for text in texts:
            first = self.solve(text)
            second = self.solve(text, name="again.h5")
            self.assertEqual(self.choices(first[0]), self.choices(second[0]))
            np.testing.assert_array_equal(first[1], second[1])


if __name__ == "__main__":
    harness.main()
