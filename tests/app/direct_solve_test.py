"""Factors as the preconditioner of block-solve, asked for and as auto's way out."""

import harness
import h5py
import numpy as np
import scipy.sparse as sp
from direct_test import path


class DirectSolveTest(harness.AppTest):
    def solve(self, a, preconditioner, sides=3, more="", in_range=True):
        n = a.shape[0]
        self.save(a)
        exact = np.random.default_rng(0).standard_normal((n, sides))
        with h5py.File(self.path("f.h5"), "w") as file:
            file["F"] = a @ exact if in_range else exact
        run = self.run_program(self.config("matrix: {file: a.npz}\nright_hand_sides: {file: f.h5}\n"
                                           f"linear_solver: {{preconditioner: {preconditioner}{more}}}\n"
                                           "output: {file: out.h5}\n"), timeout=120)
        if "preconditioner: direct needs" in run.stderr:
            self.skipTest("this build has no MUMPS")
        return run, exact

    def solution(self, run, code=0):
        self.assertEqual(run.code, code, run)
        with h5py.File(self.path("out.h5")) as file:
            self.assertTrue(file["converged"][:].all(), run)
            return file["solution"][:], int(file.attrs["iterations"])

    def test_definite(self):
        a = sp.kronsum(harness.laplacian(30), harness.laplacian(21)).tocsr()
        for more, tolerance in (("", 1e-7), (", block_size: 2", 1e-7)):
            run, exact = self.solve(a, "{type: direct}", 5, more)
            x, iterations = self.solution(run)
            np.testing.assert_allclose(x, exact, rtol=0, atol=tolerance)
            self.assertLess(iterations, 10)
            self.assertIn("direct: LDL^T of A, ", run.stdout)

    def test_indefinite_is_proved(self):
        a = (sp.kronsum(harness.laplacian(20), harness.laplacian(21)) - 0.5 * sp.identity(420)).tocsr()
        below = int((np.linalg.eigvalsh(a.toarray()) < 0).sum())
        run, _ = self.solve(a, "{type: direct}")
        self.assert_refused(run, 2, ["A is not positive definite", f"{below} of its eigenvalues are negative"])

    def test_auto_takes_it_when_half_of_the_iterations_have_not_done(self):
        """Condition 1e12, turned in random planes: iterations are cheap and get nowhere."""
        rng = np.random.default_rng(5)
        n = 800
        a = sp.diags(np.logspace(-6, 6, n)).tocsr()
        for _ in range(3):
            first, second = rng.permutation(n).reshape(2, n // 2)
            cosine, sine = np.cos(0.7), np.sin(0.7)
            rows, columns = np.r_[first, second, first, second], np.r_[first, second, second, first]
            values = np.repeat([cosine, cosine, -sine, sine], n // 2)
            turn = sp.csr_matrix((values, (rows, columns)), shape=(n, n))
            a = (turn @ a @ turn.T).tocsr()
        run, _ = self.solve((a + a.T) / 2, "{type: auto}", in_range=False)
        self.solution(run)
        self.assertIn("preconditioner from here on: direct, because", run.stdout, run)

    def test_auto_tells_what_factors_have_found_last(self):
        """One eigenvalue is negative by so little that conjugate gradients mostly do not see it: of four matrices, by
        rounding errors, they see one or two."""
        n = 300
        by_factors = "1 of its eigenvalues are negative"
        told = 0
        for seed in range(5, 9):
            q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))
            a = (q * np.r_[-1e-3, np.geomspace(1.0, 1e6, n - 1)]) @ q.T
            self.save(sp.csr_matrix((a + a.T) / 2))
            run = self.run_program(self.config("matrix: {file: a.npz}\nright_hand_sides: {random: 2}\n"))
            self.assertEqual(run.code, 4, run)
            self.assertRegex(run.stderr, f"A is not positive definite: ({by_factors}|p'Ap = -).*try: a method for indef")
            told += by_factors in run.stderr
        self.assertGreaterEqual(told, 1)

    def test_auto_ends_with_words_where_factors_find_it_indefinite(self):
        """No curvature in the first direction: factors are auto's last way, and prove that it is not theirs either."""
        line = sp.kronsum(harness.laplacian(20), harness.laplacian(20))
        self.save(sp.block_diag([line, -line]))
        with h5py.File(self.path("f.h5"), "w") as file:
            file["F"] = np.ones((800, 1))
        run = self.run_program(self.config("matrix: {file: a.npz}\nright_hand_sides: {file: f.h5}\noutput: {file: out.h5}\n"))
        self.assertEqual(run.code, 4, run)
        self.assertIn("not converged", run.stderr)
        with h5py.File(self.path("out.h5")) as file:
            self.assertFalse(file["converged"][:].any())

    def test_rows_without_a_diagonal_are_not_empty(self):
        """Entries of a difference stencil add up to zero times anything linear in the row."""
        line = sp.kronsum(harness.laplacian(15), harness.laplacian(15))
        self.save(sp.kron([[0, 1], [1, 0]], line))
        with h5py.File(self.path("f.h5"), "w") as file:
            file["F"] = np.r_[np.ones(225), np.zeros(225)].reshape(-1, 1)
        run = self.run_program(self.config("matrix: {file: a.npz}\nright_hand_sides: {file: f.h5}\n"))
        self.assertEqual(run.code, 4, run)
        self.assertNotIn("has no entries", run.stderr + run.stdout)

    def test_singular(self):
        """Right-hand sides in the range of a Laplacian of two components."""
        a = sp.block_diag([path(200, 2), path(300, 2)]).tocsr()
        run, exact = self.solve(a, "{type: direct}")
        x, _ = self.solution(run)
        residual = np.linalg.norm(a @ (x - exact), axis=0) / np.linalg.norm(a @ exact, axis=0)
        self.assertLess(residual.max(), 2e-8)

    def test_auto_takes_it(self):
        line = harness.laplacian(4000)
        for a in (path(5000, 6) + 1e-9 * sp.identity(5000), line @ line):
            run, _ = self.solve(a, "{type: auto}", in_range=False)
            if "this build has no" in run.stderr:
                continue
            self.solution(run)
            self.assertIn("preconditioner from here on: direct, because", run.stdout, run)
            self.assertRegex(run.stdout, r"(?m)^direct: LDL\^T of A")


if __name__ == "__main__":
    harness.main()
