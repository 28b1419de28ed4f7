"""Small problems that a dense solver takes by default, held against SciPy's."""

import harness
import h5py
import numpy as np
import scipy.io
import scipy.linalg
import scipy.sparse as sp


def multipartite(parts, size):
    """Adjacency of the graph whose vertices are neighbours where they are in different parts."""
    part = np.repeat(np.arange(parts), size)
    return (part[:, None] != part[None, :]).astype(float)


def laplacian(adjacency):
    return np.diag(adjacency.sum(axis=1)) - adjacency


class Dense(harness.AppTest):
    def solve(self, a, pairs, which="smallest", more=""):
        """The run, and the result's eigenvalues."""
        sp.save_npz(self.path("a.npz"), sp.csr_matrix(a))
        text = "matrix: {file: a.npz}\neigensolver: {pairs: %d, which: %s%s}\noutput: {file: result.h5}\n"
        run = self.run_program(self.config(text % (pairs, which, more)))
        with h5py.File(self.path("result.h5")) as file:
            return run, file["eigenvalues"][:]

    def check(self, a, pairs, which="smallest"):
        run, values = self.solve(a, pairs, which)
        self.assertEqual(run.code, 0, run)
        exact = np.linalg.eigvalsh(a)
        exact = exact[:pairs] if which == "smallest" else exact[::-1][:pairs]
        np.testing.assert_allclose(values, exact, atol=1e-12 * abs(a).sum(axis=1).max())


class ZerosOfGraphs(Dense):
    """Rounding errors of rows of hundreds of entries are what a zero has; so are those of A times a constant vector."""

    def test_constant_vector(self):
        self.check(laplacian(multipartite(5, 130)), 2)
        self.check(laplacian(multipartite(20, 40)), 1)

    def test_zeros_by_the_hundred(self):
        a = multipartite(3, 250)
        self.check(a, 3)
        self.check(a, 6, "largest")

    def test_tiny_values_by_the_hundred(self):
        self.check(np.ones((700, 700)) + 1e-8 * np.identity(700), 3)


class BlocksOfAnySize(Dense):
    """Uncoupled blocks whose sizes span forty decades, in random order: each solved by itself, as it is here."""

    def setUp(self):
        super().setUp()
        self.random = np.random.default_rng(1)

    def blocks(self, sizes):
        result = []
        for size in sizes:
            root = self.random.standard_normal((10, 10))
            result.append(size * (root @ root.T + np.identity(10)))
        return result

    def check_blocks(self, sizes_a, sizes_b, pairs):
        a, b = self.blocks(sizes_a), self.blocks(sizes_b)
        order = self.random.permutation(10 * len(a))
        for name, blocks in (("a.npz", a), ("b.npz", b)):
            sp.save_npz(self.path(name), sp.csr_matrix(scipy.linalg.block_diag(*blocks)[np.ix_(order, order)]))
        run = self.run_program(self.config("matrix: {file: a.npz}\nmass: {file: b.npz}\n"
                                           "eigensolver: {pairs: %d}\noutput: {file: result.h5}\n" % pairs))
        self.assertEqual(run.code, 0, run)
        exact = np.sort(np.concatenate([scipy.linalg.eigh(x, y, eigvals_only=True) for x, y in zip(a, b)]))[:pairs]
        with h5py.File(self.path("result.h5")) as file:
            np.testing.assert_allclose(file["eigenvalues"][:], exact, rtol=1e-8)

    def test_sizes_of_a(self):
        self.check_blocks(10.0 ** self.random.uniform(-20, 20, 60), np.ones(60), 6)

    def test_sizes_of_both(self):
        sizes = 10.0 ** self.random.uniform(-20, 20, 40)
        self.check_blocks(sizes, sizes, 8)


class StoredZeros(Dense):
    """Kronecker sums of some formats of SciPy store zeros nearly everywhere, which are no entries."""

    def test_hypercube(self):
        edge = sp.csr_matrix([[0.0, 1.0], [1.0, 0.0]])
        a = edge
        for _ in range(6):
            a = sp.kronsum(a, edge, format="csr")
        a = sp.csr_matrix((a.toarray().ravel(), np.tile(np.arange(128), 128), 128 * np.arange(129)))
        for save, name in ((sp.save_npz, "a.npz"), (scipy.io.mmwrite, "a.mtx")):
            save(self.path(name), a)
            run = self.run_program(self.config("matrix: {file: %s}\neigensolver: {pairs: 3}\n"
                                               "output: {file: result.h5}\n" % name))
            self.assertEqual(run.code, 0, run)
            self.assertIn("; 128 rows, 896 nonzeros", run.stdout)
            with h5py.File(self.path("result.h5")) as file:
                np.testing.assert_allclose(file["eigenvalues"][:], [-7.0, -5.0, -5.0], atol=1e-7)


if __name__ == "__main__":
    harness.main()
