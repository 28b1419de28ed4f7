"""Every file in configs/ runs as it stands, and gives what its comment promises."""

import os
import re

import harness
import h5py
import numpy as np
import scipy.sparse as sp
from result_test import grid_spectrum


class ConfigsTest(harness.AppTest):
    TESTED = {"laplacian3d.yaml", "own_matrix.yaml", "generalized.yaml", "largest.yaml", "many_pairs.yaml",
              "single_precision.yaml", "checkpoint.yaml"}

    def solve(self, name, output):
        folder = os.path.join(harness.options.source, "configs")
        result = self.run_program(os.path.join(os.path.abspath(folder), name), timeout=300)
        self.assertEqual(result.code, 0, result)
        with h5py.File(self.path(output)) as file:
            self.assertTrue(file["converged"][:].all(), result)
            return result, file["eigenvalues"][:], file["eigenvectors"][:].astype(float)

    def test_none_is_left_out(self):
        there = {name for name in os.listdir(os.path.join(harness.options.source, "configs")) if name.endswith(".yaml")}
        self.assertEqual({name for name in there if self.belongs_here(name)}, self.TESTED)

    def test_manual_explains_every_key(self):
        """Every key that a resolved config can have is in docs/config.md."""
        with open(os.path.join(harness.options.source, "docs", "config.md"), encoding="utf-8") as file:
            manual = file.read()
        keys = set()
        for matrix in ("laplacian2d, size: [4, 4], anisotropy: [1, 1]", "elasticity3d, size: [1, 1, 1]", "rmat, scale: 3",
                       "schroedinger3d, size: [2, 2, 2]", "random_uniform, rows: 20", "random_banded, rows: 20",
                       "random_spd, rows: 20", "graph_laplacian, scale: 3"):
            check = self.run_program("--check", self.config(f"matrix: {{generate: {matrix}}}\n"
                                     "eigensolver: {preconditioner: {type: chebyshev}}\noutput: {file: r.h5}\n"
                                     "linear_solver: {preconditioner: {type: amg, method: gamg, options: -x, coordinates: {file: x}}}\n"
                                     "right_hand_sides: {random: 2}\ncheckpoint: {file: c.h5}\n"), ranks=1)
            self.assertEqual(check.code, 0, check)
            keys |= set(re.findall(r"^ *(\w+):", check.stdout[check.stdout.index("\nmatrix:"):
                                                             check.stdout.index("\nmemory")], re.MULTILINE))
        self.assertGreater(len(keys), 40)
        missing = [key for key in keys if not re.search(rf"(^|[`{{ ]){key}[`:,]", manual, re.MULTILINE)]
        self.assertEqual(missing, [])

    def belongs_here(self, name):
        """Files for block-solve name their right-hand sides; they are tested with it."""
        with open(os.path.join(harness.options.source, "configs", name), encoding="utf-8") as file:
            return "\nright_hand_sides:" not in file.read()

    def test_laplacian3d(self):
        run, values, _ = self.solve("laplacian3d.yaml", "laplacian3d.h5")
        np.testing.assert_allclose(values, grid_spectrum(48, 48, 48)[:16], rtol=1e-9)
        self.assertIn("closed form", run.stdout)

    def test_own_matrix(self):
        """The lines of Python in its comment, as they are."""
        lines = self.python_lines("own_matrix.yaml")
        before = [line for line in lines if "h5py" not in line]
        split = next(i for i, line in enumerate(before) if line.startswith(("with", "    w, v", "print")))
        scope = {}
        os.chdir(self.folder)
        exec("\n".join(before[:split]), scope)  # pylint: disable=exec-used
        _, values, vectors = self.solve("own_matrix.yaml", "result.h5")
        exec("\n".join(lines[split:]).replace("print(", "largest = ("), scope)  # pylint: disable=exec-used
        self.assertLess(scope["largest"], 1e-10)
        np.testing.assert_allclose(values, grid_spectrum(60, 60)[:8], rtol=1e-10)
        self.assertEqual(vectors.shape, (3600, 8))

    def python_lines(self, name):
        with open(os.path.join(harness.options.source, "configs", name), encoding="utf-8") as file:
            return [line[4:].rstrip("\n") for line in file if line.startswith("#   ") and "mpirun" not in line]

    def test_generalized(self):
        scope = {}
        os.chdir(self.folder)
        exec("\n".join(self.python_lines("generalized.yaml")), scope)  # pylint: disable=exec-used
        _, values, vectors = self.solve("generalized.yaml", "membrane.h5")
        n, h = 60, 1.0 / 61
        k, m = sp.load_npz("K.npz"), sp.load_npz("M.npz")
        c = np.cos(np.pi * h * np.arange(1, n + 1))
        one = (2 - 2 * c) / h / ((4 + 2 * c) * h / 6)
        np.testing.assert_allclose(values, np.sort(np.add.outer(one, one).ravel())[:10], rtol=1e-9)
        np.testing.assert_allclose(values[:4], np.pi**2 * np.array([2, 5, 5, 8]), rtol=5e-3)
        np.testing.assert_allclose(vectors.T @ (m @ vectors), np.eye(10), atol=1e-9)
        self.assertLess(np.abs(k @ vectors - (m @ vectors) * values).max(), 1e-6)

    def test_largest(self):
        _, values, vectors = self.solve("largest.yaml", "graph_modes.h5")
        self.assertTrue(np.all(np.diff(values) <= 0))
        # The largest degree plus one is a lower bound of the largest eigenvalue of a graph Laplacian.
        self.assertGreater(values[0], 100)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(8), atol=1e-10)
        np.testing.assert_allclose(vectors.sum(axis=0), 0, atol=1e-4)

    def test_many_pairs(self):
        _, values, _ = self.solve("many_pairs.yaml", "many_pairs.h5")
        np.testing.assert_allclose(values, grid_spectrum(80, 70)[:60], rtol=1e-9)

    def test_checkpoint(self):
        _, values, _ = self.solve("checkpoint.yaml", "checkpoint_result.h5")
        np.testing.assert_allclose(values, grid_spectrum(20, 21, 22)[:8], rtol=1e-9)
        again, values, _ = self.solve("checkpoint.yaml", "checkpoint_result.h5")
        np.testing.assert_allclose(values, grid_spectrum(20, 21, 22)[:8], rtol=1e-9)
        self.assertIn("is that of a finished run", again.stdout)

    def test_single_precision(self):
        run, values, _ = self.solve("single_precision.yaml", "quantum_dot.h5")
        grids = []
        for omega in (1.0, 1.3, 1.7):
            x = (np.arange(32) - 15.5) * 0.4
            h = (sp.diags(1 / 0.4**2 + 0.5 * omega**2 * x**2) -
                 sp.diags([0.5 / 0.4**2] * 31, 1) - sp.diags([0.5 / 0.4**2] * 31, -1))
            grids.append(np.linalg.eigvalsh(h.toarray()))
        exact = np.sort((grids[0][:, None, None] + grids[1][None, :, None] + grids[2][None, None, :]).ravel())[:6]
        np.testing.assert_allclose(values, exact, rtol=1e-6)
        self.assertIn("float", run.stdout)


if __name__ == "__main__":
    harness.main()
