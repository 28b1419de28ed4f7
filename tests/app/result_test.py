"""The result file as h5py reads it, checked with SciPy and against closed forms, and what the program says on the way."""

import os
import re
import stat

import harness
import h5py
import numpy as np
import scipy.io
import scipy.linalg
import scipy.sparse as sp


def grid_spectrum(*sizes):
    """Eigenvalues of the Laplacian on a grid, ascending."""
    total = np.zeros(1)
    for n in sizes:
        total = np.add.outer(total, 2 - 2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1))).ravel()
    return np.sort(total)


def grid_laplacian(*sizes):
    """As the generator numbers it: x fastest."""
    total = sp.csr_matrix((1, 1))
    for n in sizes:
        total = sp.kron(sp.eye(n), total) + sp.kron(harness.laplacian(n), sp.eye(total.shape[0]))
    return total.tocsr()


class ResultTest(harness.AppTest):
    def solve(self, text, *overrides, code=0, name="result.h5"):
        result = self.run_program(self.config(text), *overrides, timeout=120)
        self.assertEqual(result.code, code, result)
        self.assertEqual(result.errors(), [], result)
        self.assertEqual([file for file in os.listdir(self.folder) if "partial" in file or "probe" in file], [])
        return result, h5py.File(self.path(name), "r")

    def check_pairs(self, file, a, b=None, tolerance=1e-8):
        """Residuals, bounds and orthonormality from the file and the matrices alone."""
        b = sp.eye(a.shape[0], format="csr") if b is None else b
        w, v = file["eigenvalues"][:], file["eigenvectors"][:]
        self.assertEqual(v.shape, (a.shape[0], w.size))
        residuals = np.linalg.norm(a @ v - (b @ v) * w, axis=0)
        norm_a, norm_b = abs(a).sum(axis=1).max(), abs(b).sum(axis=1).max()
        rounding = 100 * np.finfo(float).eps * (norm_a + np.abs(w) * norm_b)
        np.testing.assert_array_less(np.abs(residuals - file["residual_norms"][:]), rounding)
        np.testing.assert_allclose(v.T @ (b @ v), np.eye(w.size), atol=1e-10)
        done = file["converged"][:]
        limits = tolerance * np.abs(w) * np.linalg.norm(b @ v, axis=0)
        reached = residuals <= np.maximum(1.05 * limits, rounding)
        self.assertTrue(np.all(reached[done]), (residuals, limits))
        return w, v


class StandardProblem(ResultTest):
    text = ("matrix: {generate: laplacian3d, size: [9, 8, 7]}\neigensolver: {pairs: 6, tolerance: 1.0e-8}\n"
            "profile: true\noutput: {file: result.h5}\n")

    def test_everything_is_there(self):
        run, file = self.solve(self.text, "eigensolver.verify=probe")
        with file:
            a = grid_laplacian(9, 8, 7)
            w, _ = self.check_pairs(file, a)
            exact = grid_spectrum(9, 8, 7)[:6]
            np.testing.assert_allclose(w, exact, rtol=1e-10)
            self.assertTrue(np.all(np.abs(w - exact) <= file["error_bounds"][:]))
            self.assertTrue(file["error_bounds"].attrs["rigorous"])
            self.assertEqual(file["converged"].dtype, np.dtype(bool))
            self.assertTrue(file["converged"][:].all())
            self.assertEqual(file["status"][:].astype(str).tolist(), ["converged"] * 6)
            self.check_history(file)
            self.check_attributes(file)
            self.check_times(file, run)
            self.check_choice(file, run)
            np.testing.assert_allclose(file["attained_tolerances"][:] * w, file["residual_norms"][:], rtol=1e-12)
            self.assertEqual(file["attained_tolerances"].attrs["requested"], 1e-8)
            self.assertLess(file.attrs["orthonormality"], 1e-12)
            self.assertEqual(file.attrs["proof"], "probe")
            self.assertIn("confidence 99%", file.attrs["proof_statement"])
            self.assertEqual(file.attrs["proof_confidence"], 0.99)
            self.assertGreater(file.attrs["proof_smallest_gap"], 0.0)
            self.assertEqual(file.attrs["proof_missing"], 0)
        self.check_output(run, exact)
        self.assertIn("proof: probe, no pair missed with confidence 99%", run.stdout)

    def check_history(self, file):
        history = file["history"]
        iterations = file.attrs["iterations"]
        self.assertGreater(iterations, 3)
        self.assertEqual(history["eigenvalues"].shape, (iterations, 6))
        self.assertEqual(history["residual_norms"].shape, (iterations, 6))
        self.assertEqual(history["seconds"].shape, (iterations,))
        self.assertTrue(np.all(np.diff(history["seconds"][:]) >= 0))
        columns = history["active_columns"][:]
        self.assertTrue(np.all((columns > 0) & (columns <= 8)), columns)
        self.assertLess(history["residual_norms"][-1].max(), history["residual_norms"][0].max())
        self.assertTrue(np.all(history["products"][:] >= columns))
        self.assertEqual(history["in_float"].shape, (iterations,))
        self.assertEqual(history["in_float"].dtype, np.dtype(bool))

    def check_attributes(self, file):
        attributes = file.attrs
        self.assertEqual(attributes["program"], "block-eigs")
        self.assertRegex(attributes["version"], r"^\d+\.\d+\.\d+$")
        self.assertIn("laplacian3d", attributes["matrix"])
        self.assertEqual(attributes["rows"], 9 * 8 * 7)
        self.assertEqual(attributes["nonzeros"], grid_laplacian(9, 8, 7).nnz)
        self.assertEqual(attributes["ranks"], harness.options.ranks)
        self.assertIn("host", attributes["device"])
        self.assertGreater(attributes["solve_seconds"], 0)
        self.assertGreaterEqual(attributes["setup_seconds"], 0)
        self.assertIn("tolerance: 1e-08", attributes["config"])
        self.assertGreater(attributes["memory"], 1e6)
        self.assertGreater(attributes["memory_predicted"], 1e6)
        self.assertEqual(attributes["gpu_memory"], 0)

    def check_times(self, file, run):
        """Phases add up to the whole, which is the table of the output but for writing the file."""
        times = file["times"]
        phases = times["phase"][:].astype(str).tolist()
        self.assertEqual(phases[0], "SpMM")
        self.assertEqual(phases[-2:], ["other", "all"])
        mean, slowest = times["mean"][:], times["slowest"][:]
        self.assertTrue(np.all((mean >= 0) & (slowest >= mean * (1 - 1e-12))))
        self.assertLessEqual(mean[-1], mean[:-1].sum() * (1 + 1e-9))
        self.assertGreater(mean[-1], file.attrs["solve_seconds"])
        whole = float(re.search(r"(?m)^all +([\d.]+) s", run.stdout).group(1))
        self.assertLessEqual(mean[-1], whole + 1e-3)

    def check_choice(self, file, run):
        """What is said of preconditioners on the way is in the file."""
        # Every choice, and the factors that were made for one.
        told = re.findall(r"(?m)^preconditioner(?: from here on)?: (.*)$|^(direct: LDL\^T .*)$", run.stdout)
        said = [choice or factors for choice, factors in told]
        self.assertEqual(file["preconditioners/description"][:].astype(str).tolist(), said)
        self.assertTrue(file["preconditioners"].attrs["chosen"])
        first = file["preconditioners/first_iteration"][:]
        self.assertEqual(first[0], 0)
        self.assertTrue(np.all(np.diff(first) >= 0))

    def check_output(self, run, exact):
        """The table has a line a pair with the closed form beside it; the times and the memory follow."""
        rows = [line.split() for line in run.stdout.splitlines() if " converged " in line]
        self.assertEqual(len(rows), 6, run)
        np.testing.assert_allclose([float(row[1]) for row in rows], exact, rtol=1e-10)
        np.testing.assert_allclose([float(row[7]) for row in rows], exact, rtol=1e-14)
        self.assertIn("attained  requested  error bound", run.stdout)
        for attained, requested, bound in (row[3:6] for row in rows):
            self.assertLessEqual(float(attained), 1.05e-8)
            self.assertEqual(float(requested), 1e-8)
            self.assertGreater(float(bound), 0.0)
        for word in ("SpMM", "halo wait", "block algebra", "small dense", "preconditioner", "I/O", "peak memory"):
            self.assertIn(word, run.stdout)

    def test_phases_are_not_timed_unasked(self):
        run, file = self.solve(self.text, "profile=false")
        with file:
            self.assertEqual(file["times/phase"][:].astype(str).tolist(), ["all"])
        self.assertIn("time in all: ", run.stdout)
        self.assertNotIn("halo wait", run.stdout)

    def test_resolved_config_gives_the_same_result(self):
        _, file = self.solve(self.text)
        with file:
            values, resolved = file["eigenvalues"][:], file.attrs["config"]
        _, file = self.solve(resolved, "output.file=again.h5", name="again.h5")
        with file:
            np.testing.assert_array_equal(file["eigenvalues"][:], values)

    def test_ranks_agree(self):
        _, file = self.solve(self.text)
        with file:
            values = file["eigenvalues"][:]
        alone = self.run_program("run.yaml", ranks=1)
        self.assertEqual(alone.code, 0, alone)
        with h5py.File(self.path("result.h5")) as file:
            np.testing.assert_allclose(file["eigenvalues"][:], values, rtol=1e-10)

    def test_existing_result_is_replaced_and_permissions_are_usual(self):
        with open(self.path("result.h5"), "w", encoding="ascii") as file:
            file.write("old")
        _, file = self.solve(self.text)
        with file:
            self.assertEqual(file["eigenvalues"].shape, (6,))
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("result.h5")).st_mode), 0o666 & ~mask)

    def test_link_to_a_result_stays_a_link(self):
        os.mkdir(self.path("store"))
        os.symlink("store/real.h5", self.path("result.h5"))
        _, file = self.solve(self.text)
        file.close()
        self.assertTrue(os.path.islink(self.path("result.h5")))
        self.assertTrue(os.path.isfile(self.path("store/real.h5")))

    def test_without_vectors_and_without_file(self):
        _, file = self.solve(self.text, "output.eigenvectors=false")
        with file:
            self.assertNotIn("eigenvectors", file)
            self.assertIn("eigenvalues", file)
        os.remove(self.path("result.h5"))
        run = self.run_program("run.yaml", "output=")
        self.assertEqual(run.code, 0, run)
        self.assertEqual(os.listdir(self.folder), ["run.yaml"])

    def test_start_from_an_earlier_result(self):
        _, file = self.solve(self.text)
        with file:
            first = int(file.attrs["iterations"])
        _, file = self.solve(self.text, "eigensolver.initial={file: result.h5, dataset: /eigenvectors}",
                             "output.file=warm.h5", name="warm.h5")
        with file:
            self.assertLess(int(file.attrs["iterations"]), first // 2)
            self.check_pairs(file, grid_laplacian(9, 8, 7))

    def test_constraints_are_left_out(self):
        _, file = self.solve(self.text, "eigensolver.tolerance=1.0e-10")
        file.close()
        os.rename(self.path("result.h5"), self.path("modes.h5"))
        _, file = self.solve(self.text, "eigensolver.constraints={file: modes.h5, dataset: /eigenvectors}")
        with file:
            np.testing.assert_allclose(file["eigenvalues"][:], grid_spectrum(9, 8, 7)[6:12], rtol=1e-8)

    def test_single_precision_is_verified_in_double(self):
        _, file = self.solve(self.text, "precision=float", "eigensolver.tolerance=1.0e-5")
        with file:
            self.assertEqual(file["eigenvectors"].dtype, np.float32)
            a, w, v = grid_laplacian(9, 8, 7), file["eigenvalues"][:], file["eigenvectors"][:].astype(float)
            np.testing.assert_allclose(np.linalg.norm(a @ v - v * w, axis=0), file["residual_norms"][:], rtol=1e-8)
            exact = grid_spectrum(9, 8, 7)[:6]
            self.assertTrue(np.all(np.diff(w) >= 0))
            self.assertTrue(np.all(np.abs(w - exact) <= file["error_bounds"][:]))
            np.testing.assert_allclose(w, exact, rtol=1e-8)

    def test_change_of_precision_and_preconditioner_is_told(self):
        """AMG begins in float and hands over to double; its levels are in the file."""
        run, file = self.solve(self.text.replace("9, 8, 7", "17, 16, 15"), "eigensolver.preconditioner={type: amg}")
        with file:
            in_float = file["history/in_float"][:]
            self.assertTrue(in_float[0])
            self.assertFalse(in_float[-1])
            self.assertEqual(np.count_nonzero(np.diff(in_float.astype(int))), 1)
            self.assertFalse(file["preconditioners"].attrs["chosen"])
            self.assertRegex(file["preconditioners"].attrs["made"], r"^amg: \d levels")
            self.assertIn(file["preconditioners"].attrs["made"], run.stdout)
            self.assertEqual(file["preconditioners/description"].shape, (1,))
            self.assertIn(b"amg", file["preconditioners/description"][0])
        _, file = self.solve(self.text, "precision=float", "eigensolver.tolerance=1.0e-5")
        with file:
            self.assertTrue(file["history/in_float"][:].all())

    def test_another_preconditioner_on_the_way_is_told(self):
        """A matrix scaled by many decades, on which auto changes its mind; iterations stand in order."""
        n = 40
        scale = sp.diags(10.0 ** np.random.default_rng(3).uniform(-1.5, 1.5, n * n))
        self.save(scale @ grid_laplacian(n, n) @ scale)
        run, file = self.solve("matrix: {file: a.npz}\neigensolver: {pairs: 6, dense_up_to: 0}\n"
                               "output: {file: result.h5}\n")
        with file:
            self.check_choice(file, run)
            self.assertLess(file["preconditioners/first_iteration"][-1], file.attrs["iterations"])

    def test_iterations_used_up(self):
        run, file = self.solve(self.text, "eigensolver.max_iterations=4", "eigensolver.dense_up_to=0",
                               "eigensolver.preconditioner={type: jacobi}", code=4)
        with file:
            converged = file["converged"][:]
            self.assertFalse(converged.all())
            self.assertEqual(file["status"][-1], b"not_converged")
            self.check_pairs(file, grid_laplacian(9, 8, 7))
        self.assertRegex(run.stderr, r"block-eigs: \d of 6 pairs not converged \(.*\): max_iterations")


class OtherProblems(ResultTest):
    def test_generalized(self):
        k, m1 = grid_laplacian(14, 12), sp.diags([1.0, 4.0, 1.0], [-1, 0, 1], shape=(12, 12)) / 6
        m = sp.kron(m1, sp.diags(np.linspace(1.0, 3.0, 14))).tocsr()
        self.save(k, "k.npz")
        self.save(m, "m.npz")
        _, file = self.solve("matrix: {file: k.npz}\nmass: {file: m.npz}\neigensolver: {pairs: 5}\n"
                             "output: {file: result.h5}\n")
        with file:
            w, _ = self.check_pairs(file, k, m)
            exact = scipy.linalg.eigh(k.toarray(), m.toarray(), eigvals_only=True)[:5]
            np.testing.assert_allclose(w, exact, rtol=1e-10)
            self.assertTrue(np.all(np.abs(w - exact) <= file["error_bounds"][:] + 1e-13))
            self.assertTrue(file["error_bounds"].attrs["rigorous"])

    def test_generalized_with_a_bound_of_high_probability(self):
        """Cubic splines: B is far from diagonally dominant."""
        k = grid_laplacian(15, 15)
        m1 = sp.diags([1.0, 26.0, 66.0, 26.0, 1.0], [-2, -1, 0, 1, 2], shape=(15, 15)) / 120
        m = sp.kron(m1, m1).tocsr()
        self.save(k, "k.npz")
        self.save(m, "m.npz")
        _, file = self.solve("matrix: {file: k.npz}\nmass: {file: m.npz}\neigensolver: {pairs: 4}\n"
                             "output: {file: result.h5}\n")
        with file:
            w, _ = self.check_pairs(file, k, m)
            np.testing.assert_allclose(w, scipy.linalg.eigh(k.toarray(), m.toarray(), eigvals_only=True)[:4], rtol=1e-10)
            exact = scipy.linalg.eigh(k.toarray(), m.toarray(), eigvals_only=True)[:4]
            self.assertTrue(np.all(np.abs(w - exact) <= file["error_bounds"][:] + 1e-13))
            self.assertTrue(np.all(file["error_bounds"][:] <= 1e-4 * exact))
            self.assertFalse(file["error_bounds"].attrs["rigorous"])
            self.assertEqual(file["error_bounds"].attrs["kind"], "probable")

    def test_generalized_without_known_bound(self):
        """B is nearly singular, and badly scaled beside its diagonal."""
        k = grid_laplacian(15, 15)
        m = sp.eye(225, format="lil")
        m[0, 1] = m[1, 0] = 1.0 - 1e-6
        self.save(k, "k.npz")
        self.save(m.tocsr(), "m.npz")
        _, file = self.solve("matrix: {file: k.npz}\nmass: {file: m.npz}\neigensolver: {pairs: 4}\n"
                             "output: {file: result.h5}\n")
        with file:
            self.check_pairs(file, k, m.tocsr())
            self.assertTrue(np.all(np.isnan(file["error_bounds"][:])))
            self.assertEqual(file["error_bounds"].attrs["kind"], "unknown")

    def test_largest(self):
        _, file = self.solve("matrix: {generate: laplacian2d, size: [20, 13]}\n"
                             "eigensolver: {pairs: 5, which: largest}\noutput: {file: result.h5}\n")
        with file:
            w, _ = self.check_pairs(file, grid_laplacian(20, 13))
            np.testing.assert_allclose(w, grid_spectrum(20, 13)[::-1][:5], rtol=1e-10)

    def test_singular_is_done_at_the_accuracy_limit(self):
        """A graph Laplacian: no relative residual can be small at eigenvalue 0."""
        ring = harness.laplacian(200).tolil()
        ring[0, 199] = ring[199, 0] = -1.0
        self.save(ring)
        run, file = self.solve("matrix: {file: a.npz}\neigensolver: {pairs: 3, tolerance: 1.0e-8}\n"
                               "output: {file: result.h5}\n")
        with file:
            w, _ = self.check_pairs(file, ring.tocsr())
            np.testing.assert_allclose(w, [0, 2 - 2 * np.cos(2 * np.pi / 200)] + [2 - 2 * np.cos(2 * np.pi / 200)],
                                       atol=1e-12)
            self.assertEqual(file["status"][0], b"at_accuracy_limit")
            self.assertTrue(file["converged"][:].all())
        self.assertIn("at accuracy limit", run.stdout)

    def test_skewed_rows_are_dealt_by_work(self):
        """A dense corner: even shares of rows would give the first rank nearly all of the work."""
        n, dense = 900, 150
        corner = np.zeros((n, n))
        corner[:dense, :dense] = 0.01
        a = sp.csr_matrix(corner + np.diag(np.arange(1.0, n + 1)))
        self.save(a)
        _, file = self.solve("matrix: {file: a.npz}\neigensolver: {pairs: 4}\noutput: {file: result.h5}\n")
        with file:
            w, _ = self.check_pairs(file, a)
            np.testing.assert_allclose(w, np.linalg.eigvalsh(a.toarray())[:4], rtol=1e-9)


if __name__ == "__main__":
    harness.main()
