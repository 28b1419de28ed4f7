"""block-solve on singular matrices whose null vectors are seen, with right-hand sides that are outside the range by less
than the tolerance, by hardly less and by more: as right-hand sides in the range, and what it says of them is true."""

import harness
import h5py
import numpy as np
import scipy.sparse as sp

TOLERANCE = 1e-8
SIZE = 40


def neumann(n):
    """Minus the Laplacian of a grid with zero normal derivatives: its rows add up to zero."""
    line = harness.laplacian(n).tolil()
    line[0, 0] = line[n - 1, n - 1] = 1.0
    return (sp.kron(line, sp.identity(n)) + sp.kron(sp.identity(n), line)).tocsr()


class NearlyInRange(harness.AppTest):
    PRECONDITIONERS = ("auto", "none", "jacobi", "chebyshev", "amg")

    def solve(self, f, *overrides, code=0):
        with h5py.File(self.path("f.h5"), "w") as file:
            file["F"] = f
        text = "matrix: {file: a.npz}\nright_hand_sides: {file: f.h5}\noutput: {file: result.h5}\n"
        run = self.run_program(self.config(text), *overrides)
        self.assertEqual(run.code, code, run)
        self.assertEqual(run.errors(), [], run)
        with h5py.File(self.path("result.h5")) as file:
            return run, {name: file[name][:] for name in ("solution", "residual_norms", "rhs_norms", "status", "iterations",
                                                          "history/residual_norms")}

    def check(self, a, f, outside, limit, *overrides):
        """Outcomes, residuals of the F that was given, and X no longer than that of the part in the range."""
        codes = 4 if max(outside) > TOLERANCE else 0
        run, found = self.solve(f, *overrides, code=codes)
        norms = np.linalg.norm(f, axis=0)
        residuals = np.linalg.norm(f - a @ found["solution"], axis=0)
        np.testing.assert_allclose(found["rhs_norms"], norms, rtol=1e-12)
        np.testing.assert_allclose(found["residual_norms"], residuals, rtol=1e-5)
        self.assertTrue((np.linalg.norm(found["solution"], axis=0) <= limit * norms).all(), run)
        for c, status, residual, norm in zip(outside, found["status"], residuals, norms):
            if c > TOLERANCE:
                self.assertEqual(status, b"not_converged", run)
                self.assertLessEqual(residual, np.hypot(c, TOLERANCE) * norm, run)
            else:
                self.assertEqual(status, b"converged", run)
                self.assertLessEqual(residual, TOLERANCE * norm * (1 + 1e-9), run)
        if codes == 4:
            self.assertIn(f"{sum(c > TOLERANCE for c in outside)} of {f.shape[1]} right-hand sides not converged", run.stderr)
            self.assertIn("the solutions returned are those of least squares", run.stderr)
        return found

    def rows_that_add_up_to_zero(self):
        """A, right-hand sides of length one in its range, and the null vector."""
        a = neumann(SIZE)
        self.save(a)
        one = np.full((SIZE * SIZE, 1), 1.0 / SIZE)
        f = np.random.default_rng(1).standard_normal((SIZE * SIZE, 2))
        f -= one @ (one.T @ f)
        return a, f / np.linalg.norm(f, axis=0), one

    def test_rows_that_add_up_to_zero(self):
        a, f, one = self.rows_that_add_up_to_zero()
        for name in self.PRECONDITIONERS:
            override = f"linear_solver.preconditioner.type={name}"
            _, plain = self.solve(f, override)
            limit = 1.01 * np.linalg.norm(plain["solution"], axis=0).max()
            for outside in harness.enough(([1e-9], [4e-9], [9e-9], [9.5e-9], [9.999e-9], [1e-2],
                                           [0, 9e-9], [9.5e-9, 9.5e-9], [1e-9, 1e-2], [1.1e-8, 9.9e-9])):
                with self.subTest(preconditioner=name, outside=outside):
                    sides = f[:, :len(outside)] + one @ np.array([outside])
                    found = self.check(a, sides, outside, limit, override)
                    # A digit more at the most, than for the part in the range; 9.999e-9 leaves 1.4e-10.
                    self.assertLessEqual(found["iterations"].max(), 1.35 * plain["iterations"].max() + 2)

    def test_columns_with_nothing_outside_are_asked_for_no_more(self):
        """Each right-hand side has what is left of the tolerance for itself."""
        a, f, one = self.rows_that_add_up_to_zero()
        found = self.check(a, f + one @ np.array([[0, 9.99999e-9]]), [0, 9.99999e-9], np.inf)
        self.assertLess(found["iterations"][0], found["iterations"][1])

    def test_iterations_in_float_and_any_scale(self):
        a, f, one = self.rows_that_add_up_to_zero()
        outside = [9e-9, 9.9e-9]
        sides = f + one @ np.array([outside])
        self.check(a, sides, outside, 20.0, "linear_solver.inner_precision=float")
        self.check(a, 2.0**300 * sides, outside, 20.0)
        self.check(a, 2.0**-300 * sides, outside, 20.0)

    def test_stored_in_single_precision(self):
        a, f, _ = self.rows_that_add_up_to_zero()
        _, plain = self.solve(f)
        found = self.check(a, f.astype(np.float32).astype(float), [0, 0], 20.0)
        self.assertLessEqual(found["iterations"].max(), plain["iterations"].max() + 1)

    def test_rows_without_entries(self):
        """They are treated as other null vectors are, also where rows add up to zero."""
        for rows in (harness.laplacian(300), neumann(SIZE)):
            n = rows.shape[0]
            a = sp.block_diag([rows, sp.csr_matrix((4, 4))]).tocsr()
            self.save(a)
            f = a @ np.random.default_rng(2).standard_normal((n + 4, 2))
            f /= np.linalg.norm(f, axis=0)
            _, plain = self.solve(f)
            limit = 1.01 * np.linalg.norm(plain["solution"], axis=0).max()
            for outside in ([1e-9, 9e-9], [9.5e-9, 0], [9e-9, 1e-2]):
                with self.subTest(rows=n, outside=outside):
                    sides = f.copy()
                    sides[n:] = np.array(outside) / 2
                    self.check(a, sides, outside, limit)

    def test_iterations_that_end_early_are_judged_by_the_tolerance(self):
        """Less was wanted of the part in the range, but the whole is below the tolerance or it is not."""
        a, f, one = self.rows_that_add_up_to_zero()
        sides = f[:, :1] + 9.9e-9 * one
        _, whole = self.solve(sides)
        for iterations in harness.enough(range(1, int(whole["iterations"][0]) + 1), step=4):
            code = 0 if iterations == whole["iterations"][0] else 4
            run, found = self.solve(sides, f"linear_solver.max_iterations={iterations}", code=code)
            residual = np.linalg.norm(sides - a @ found["solution"])
            self.assertEqual(residual <= TOLERANCE * np.linalg.norm(sides), code == 0, run)


if __name__ == "__main__":
    harness.main()
