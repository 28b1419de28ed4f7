"""partition: graph gives what other partitions give, in the order of the file: vectors, start vectors, constraints,
right-hand sides, coordinates. References: SciPy, and the same run without it."""

import os

import harness
import h5py
import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg

N = (13, 11, 6)


def shuffled_laplacian(rng):
    """Of a box, in an order that tells nothing."""
    line = [sp.diags([np.full(n - 1, -1.0), np.full(n, 2.0), np.full(n - 1, -1.0)], [-1, 0, 1]) for n in N]
    eye = [sp.identity(n) for n in N]
    a = (
        sp.kron(sp.kron(line[0], eye[1]), eye[2])
        + sp.kron(sp.kron(eye[0], line[1]), eye[2])
        + sp.kron(sp.kron(eye[0], eye[1]), line[2])
    )
    order = rng.permutation(a.shape[0])
    a = sp.csr_matrix(a)[order][:, order]
    # No two rows are alike.
    return sp.csr_matrix(a + sp.diags(np.linspace(0.0, 0.5, a.shape[0])))


class GraphPartitionTest(harness.AppTest):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(7)
        self.a = shuffled_laplacian(rng)
        self.rows = self.a.shape[0]
        self.b = sp.csr_matrix(sp.diags(1.0 + rng.random(self.rows)) + 0.02 * (self.a != 0))
        sp.save_npz(self.path("a.npz"), self.a)
        sp.save_npz(self.path("b.npz"), self.b)
        self.f = rng.standard_normal((self.rows, 3))
        with h5py.File(self.path("in.h5"), "w") as file:
            file["f"] = self.f
            file["ones"] = np.ones((self.rows, 1))

    def solve(self, program, text, partition, name):
        path = os.path.join(os.path.dirname(harness.options.program), program)
        launcher = harness.command([])[:-1]
        config = self.config(text)
        result = harness.run_command(
            launcher + [path, config, f"partition={partition}", f"output.file={name}"], self.folder, timeout=120
        )
        if "this build is without" in result.stderr:
            self.skipTest("no PT-Scotch in this build")
        self.assertEqual(result.code, 0, result)
        if harness.options.ranks > 1:
            self.assertRegex(
                result.stdout,
                rf"partition: {partition}; on \d ranks, largest \(mean\): rows [\d,]+ \([^)]*\), nonzeros .*, ghosts .*, neigh",
            )
        with h5py.File(self.path(name)) as file:
            found = {key: file[key][()] for key in file if isinstance(file[key], h5py.Dataset)}
            found["iterations"] = len(file["history/seconds"])
            return found

    def both(self, program, text):
        return [self.solve(program, text, partition, f"{partition}.h5") for partition in ("nonzeros", "graph")]

    def assert_same_vectors(self, one, other, metric):
        inner = np.abs(np.sum(one * (metric @ other), axis=0))
        np.testing.assert_allclose(inner, 1.0, atol=1e-6)

    def eigen(self, more, matrix="{file: a.npz}", mass="", metric=None):
        text = f"matrix: {matrix}\n{mass}\neigensolver: {{pairs: 4, tolerance: 1.0e-9, {more}}}\noutput: {{file: x.h5}}\n"
        plain, graph = self.both("block-eigs", text)
        np.testing.assert_allclose(graph["eigenvalues"], plain["eigenvalues"], rtol=1e-9)
        if metric is not None:
            self.assert_same_vectors(plain["eigenvectors"], graph["eigenvectors"], metric)
        return graph

    def test_pairs(self):
        for more in ("preconditioner: {type: jacobi}", "preconditioner: {type: amg}", "precision: 1"):
            with self.subTest(more=more):
                if more == "precision: 1":
                    more = "inner_precision: float, preconditioner: {type: chebyshev}"
                found = self.eigen(more, metric=sp.identity(self.rows))
                exact = scipy.sparse.linalg.eigsh(self.a, 4, sigma=0.0)[0]
                np.testing.assert_allclose(found["eigenvalues"], np.sort(exact), rtol=1e-8)
                v = found["eigenvectors"]
                self.assertLess(np.abs(self.a @ v - v * found["eigenvalues"]).max(), 1e-7)

    def test_pencil(self):
        found = self.eigen("preconditioner: {type: jacobi}", mass="mass: {file: b.npz}", metric=self.b)
        exact = scipy.sparse.linalg.eigsh(self.a, 4, M=self.b, sigma=0.0)[0]
        np.testing.assert_allclose(found["eigenvalues"], np.sort(exact), rtol=1e-8)

    def test_start_and_constraints(self):
        first = self.eigen("preconditioner: {type: jacobi}")
        with h5py.File(self.path("known.h5"), "w") as file:
            file["first"] = first["eigenvectors"][:, :2]
        more = "preconditioner: {type: jacobi}, constraints: {file: known.h5}, initial: {file: in.h5, dataset: ones}"
        found = self.eigen(more, metric=sp.identity(self.rows))
        exact = np.sort(scipy.sparse.linalg.eigsh(self.a, 6, sigma=0.0)[0])
        np.testing.assert_allclose(found["eigenvalues"], exact[2:], rtol=1e-8)
        # A start from the pairs themselves has nothing left to do: the order is kept on the way in.
        more = "preconditioner: {type: jacobi}, filtered_start: false, verify: residuals, max_iterations: 2, "
        with h5py.File(self.path("all.h5"), "w") as file:
            file["v"] = first["eigenvectors"]
        self.eigen(more + "convergence: absolute, initial: {file: all.h5}", metric=sp.identity(self.rows))

    def test_elastic_body(self):
        self.eigen("preconditioner: {type: amg}", matrix="{generate: elasticity3d, size: [7, 4, 3]}")

    def test_coordinates(self):
        """Those of a file, one place for three rows."""
        text = "matrix: {generate: elasticity3d, size: [6, 4, 3]}\neigensolver: {pairs: 3, tolerance: 1.0e-8, "
        text += "preconditioner: {type: amg, coordinates: {file: places.h5}}}\noutput: {file: x.h5}\n"
        x, y, z = np.meshgrid(np.arange(1, 7), np.arange(5), np.arange(4), indexing="ij")
        places = np.stack([x.ravel(order="F"), y.ravel(order="F"), z.ravel(order="F")], axis=1).astype(float)
        with h5py.File(self.path("places.h5"), "w") as file:
            file["x"] = places
        plain, graph = self.both("block-eigs", text)
        np.testing.assert_allclose(graph["eigenvalues"], plain["eigenvalues"], rtol=1e-7)
        # Modes of other places would cost many more iterations.
        self.assertLessEqual(graph["iterations"], 1.3 * plain["iterations"] + 2)

    def test_systems(self):
        for sides in ("{file: in.h5, dataset: f}", "{random: 3}"):
            for more in ("", ", initial: {file: in.h5, dataset: f}", ", preconditioner: {type: amg}"):
                with self.subTest(sides=sides, more=more):
                    text = f"matrix: {{file: a.npz}}\nright_hand_sides: {sides}\n"
                    text += f"linear_solver: {{tolerance: 1.0e-10{more}}}\noutput: {{file: x.h5}}\n"
                    plain, graph = self.both("block-solve", text)
                    np.testing.assert_allclose(graph["solution"], plain["solution"], rtol=1e-6, atol=1e-8)
                    if "file" in sides:
                        np.testing.assert_allclose(self.a @ graph["solution"], self.f, atol=1e-7)

    def test_float(self):
        text = "matrix: {file: a.npz}\nprecision: float\neigensolver: {pairs: 3, tolerance: 1.0e-4, preconditioner: "
        text += "{type: jacobi}}\noutput: {file: x.h5}\n"
        plain, graph = self.both("block-eigs", text)
        np.testing.assert_allclose(graph["eigenvalues"], plain["eigenvalues"], rtol=1e-6)
        v = graph["eigenvectors"].astype(float)
        self.assertLess(np.abs(self.a @ v - v * graph["eigenvalues"]).max(), 1e-3)

    def test_errors_name_rows_of_the_file(self):
        bad = self.a.tolil()
        bad[5, 700] = 3.0
        sp.save_npz(self.path("bad.npz"), sp.csr_matrix(bad))
        for partition in ("nonzeros", "graph"):
            text = f"matrix: {{file: bad.npz}}\npartition: {partition}\neigensolver: {{pairs: 2}}\n"
            result = harness.run([self.config(text)], self.folder)
            if "this build is without" in result.stderr:
                self.skipTest("no PT-Scotch in this build")
            self.assertEqual(result.code, 2, result)
            self.assertIn("(5, 700)", "".join(result.errors()).replace("(700, 5)", "(5, 700)"), result)


if __name__ == "__main__":
    harness.main()
