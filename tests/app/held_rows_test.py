"""Dirichlet conditions by penalty: a large number on the diagonal of boundary nodes, as finite element programs write it.
Values are held against those of the matrices without these rows, residuals against the matrices with them."""

import re

import harness
import h5py
import numpy as np
import scipy.linalg
import scipy.sparse as sp

ELEMENTS = 14
PAIRS = 7


def along_a_line(elements):
    """Stiffness and mass of linear elements on [0, 1]."""
    h = 1.0 / elements
    n = elements + 1
    ends = np.r_[1.0, np.full(n - 2, 2.0), 1.0]
    stiffness = sp.diags([np.full(n - 1, -1.0), ends, np.full(n - 1, -1.0)], [-1, 0, 1]) / h
    mass = sp.diags([np.full(n - 1, 1.0), 2.0 * ends, np.full(n - 1, 1.0)], [-1, 0, 1]) * (h / 6.0)
    return stiffness, mass


def membrane(elements):
    """Bilinear elements on a square that is held along its boundary; the nodes inside."""
    k, m = along_a_line(elements)
    on_edge = np.zeros(elements + 1, bool)
    on_edge[[0, -1]] = True
    inside = ~(on_edge[:, None] | on_edge[None, :]).ravel()
    return (sp.kron(k, m) + sp.kron(m, k)).tocsr(), sp.kron(m, m).tocsr(), inside


class HeldRows(harness.AppTest):
    pairs = PAIRS

    def setUp(self):
        super().setUp()
        self.k, self.m, self.inside = membrane(ELEMENTS)

    def write(self, penalty, with_mass):
        self.a = (self.k + sp.diags(np.where(self.inside, 0.0, penalty))).tocsr()
        sp.save_npz(self.path("a.npz"), self.a)
        sp.save_npz(self.path("b.npz"), self.m)
        return "matrix: {file: a.npz}\n%seigensolver: {pairs: %d}\noutput: {file: result.h5}\n" % (
            "mass: {file: b.npz}\n" if with_mass else "", self.pairs)

    def exact(self, with_mass):
        within = np.flatnonzero(self.inside)
        k = self.k[within][:, within].toarray()
        m = self.m[within][:, within].toarray() if with_mass else None
        return scipy.linalg.eigh(k, m, eigvals_only=True)[:self.pairs]

    def check(self, penalty, with_mass, *overrides, value_tolerance=1e-10, residual=1.01e-8):
        run = self.run_program(self.config(self.write(penalty, with_mass)), *overrides, timeout=120)
        self.assertEqual(run.code, 0, run)
        self.assertIn("%d rows are held at zero by a penalty\n" % np.count_nonzero(~self.inside), run.stdout)
        self.assertNotIn("alone", run.stdout)
        self.assertIn("{:,} nonzeros".format(self.a.nnz), run.stdout)
        with h5py.File(self.path("result.h5")) as file:
            values, vectors, status = (file[name][:] for name in ("eigenvalues", "eigenvectors", "status"))
        np.testing.assert_allclose(values, self.exact(with_mass), rtol=value_tolerance)
        images = self.m @ vectors if with_mass else vectors
        residuals = np.linalg.norm(self.a @ vectors - images * values, axis=0)
        self.assertTrue((residuals <= residual * values * np.linalg.norm(images, axis=0)).all(), (residuals / values, run))
        np.testing.assert_allclose(vectors.T @ images, np.eye(self.pairs), atol=1e-6 if residual > 1e-7 else 1e-12)
        self.assertTrue(residual > 1e-7 or (status == b"converged").all(), run)

    def test_penalties(self):
        for with_mass in (False, True):
            for penalty in (1e18, 1e20, 1e30, 1e60, 1e100):
                with self.subTest(penalty=penalty, with_mass=with_mass):
                    self.check(penalty, with_mass)

    def has_mumps(self):
        run = self.run_program(self.config("matrix: {generate: laplacian1d, size: [40]}\n"
                                           "eigensolver: {pairs: 1, preconditioner: {type: direct}}\n"), "--check")
        return "direct needs" not in run.stderr

    def test_without_a_dense_finish(self):
        direct = ("direct",) if self.has_mumps() else ()
        for preconditioner in ("auto", "amg", "jacobi", "chebyshev", "none") + direct:
            with self.subTest(preconditioner=preconditioner):
                self.check(1e30, True, "eigensolver.preconditioner={type: %s}" % preconditioner,
                           "eigensolver.dense_up_to=0")

    def test_proven_by_inertia(self):
        if not self.has_mumps():
            self.skipTest("this build has no MUMPS")
        self.check(1e30, True, "eigensolver.verify=inertia")
        with h5py.File(self.path("result.h5")) as file:
            statement = str(file.attrs["proof_statement"])
        # Pairs that come after a gap: the last of which there is one before the seventh.
        counted = re.search(r"(\d+) eigenvalues? below ([0-9.e+-]+), (\d+) found: none missed", statement)
        self.assertIsNotNone(counted, statement)
        within = np.flatnonzero(self.inside)
        exact = scipy.linalg.eigh(self.k[within][:, within].toarray(), self.m[within][:, within].toarray(),
                                  eigvals_only=True)
        self.assertEqual(int(counted[1]), np.count_nonzero(exact < float(counted[2])), statement)
        self.assertGreaterEqual(int(counted[1]), 4, statement)

    def test_pairs_that_are_not_done_are_not(self):
        for penalty in (1e30, 1e100):
            with self.subTest(penalty=penalty):
                run = self.run_program(self.config(self.write(penalty, False)), "eigensolver.max_iterations=1",
                                       "eigensolver.preconditioner={type: chebyshev}", "eigensolver.dense_up_to=0",
                                       timeout=120)
                self.assertEqual(run.code, 4, run)
                with h5py.File(self.path("result.h5")) as file:
                    wrong = abs(file["eigenvalues"][:] / self.exact(False) - 1.0) > 1e-3
                    self.assertTrue((file["status"][:][wrong] == b"not_converged").all(), run)

    def test_penalties_in_the_mass_too(self):
        """All of them are the eigenvalue 1."""
        text = self.write(1e30, True)
        sp.save_npz(self.path("b.npz"), (self.m + sp.diags(np.where(self.inside, 0.0, 1e30))).tocsr())
        run = self.run_program(self.config(text), timeout=120)
        self.assertEqual(run.code, 0, run)
        self.assertNotIn("held", run.stdout)
        with h5py.File(self.path("result.h5")) as file:
            np.testing.assert_allclose(file["eigenvalues"][:], 1.0, rtol=1e-10)

    def test_few_rows(self):
        self.k, self.m, self.inside = membrane(5)  # 36 nodes, 16 of them inside
        for self.pairs in (1, 4, 12, 16):
            for with_mass in (False, True):
                with self.subTest(pairs=self.pairs, with_mass=with_mass):
                    self.check(1e30, with_mass)

    def test_more_pairs_than_other_rows(self):
        """What comes after these is the penalty."""
        self.k, self.m, self.inside = membrane(5)
        self.pairs = 36
        run = self.run_program(self.config(self.write(1e30, False)), timeout=120)
        self.assertEqual(run.code, 0, run)
        with h5py.File(self.path("result.h5")) as file:
            values = file["eigenvalues"][:]
        np.testing.assert_allclose(values[:16], self.exact(False)[:16], rtol=1e-10)
        np.testing.assert_allclose(values[16:], 1e30, rtol=1e-12)

    def test_in_float(self):
        self.check(1e28, False, "precision=float", "eigensolver.tolerance=1e-4", value_tolerance=1e-5, residual=2e-4)

    def test_small_penalties_are_part_of_the_matrix(self):
        """1e6 changes values by 1e-5 of what they are."""
        text = self.write(1e6, True)
        run = self.run_program(self.config(text), timeout=120)
        self.assertEqual(run.code, 0, run)
        self.assertNotIn("held", run.stdout)
        with h5py.File(self.path("result.h5")) as file:
            values = file["eigenvalues"][:]
        exact = scipy.linalg.eigh(self.a.toarray(), self.m.toarray(), eigvals_only=True)[:PAIRS]
        np.testing.assert_allclose(values, exact, rtol=1e-9)

    def test_the_largest_are_those_of_the_penalty(self):
        text = self.write(1e20, False)
        run = self.run_program(self.config(text), "eigensolver.which=largest", timeout=120)
        self.assertEqual(run.code, 0, run)
        self.assertNotIn("held", run.stdout)
        with h5py.File(self.path("result.h5")) as file:
            np.testing.assert_allclose(file["eigenvalues"][:], 1e20, rtol=1e-12)


if __name__ == "__main__":
    harness.main()
