"""A block of elastic cubes that nothing holds: six rigid-body motions are eigenvectors of value zero, and null vectors of
systems. Matrix and values are held against trilinear elements put together here, by Gauss points."""

import itertools
import os

import harness
import h5py
import numpy as np
import scipy.linalg
import scipy.sparse as sp

ELEMENTS = (8, 6, 5)  # several levels of multigrid
MATRIX = "matrix: {generate: elasticity3d, size: [%d, %d, %d], clamped: false}\n" % ELEMENTS
MOTIONS = 6
CORNERS = np.array(list(itertools.product((0, 1), repeat=3)))[:, ::-1]  # x fastest
EPSILON = np.finfo(float).eps


def element_stiffness(young=1.0, poisson=0.3):
    """Of the unit cube: strains xx, yy, zz, xy, yz, zx of the three unknowns of each corner."""
    law = np.zeros((6, 6))
    law[:3, :3] = poisson
    law[range(3), range(3)] = 1.0 - poisson
    law[range(3, 6), range(3, 6)] = 0.5 - poisson
    law *= young / ((1.0 + poisson) * (1.0 - 2.0 * poisson))
    result = np.zeros((24, 24))
    for point in itertools.product((0.5 - 0.5 / 3**0.5, 0.5 + 0.5 / 3**0.5), repeat=3):
        factors = np.where(CORNERS == 1, point, 1.0 - np.array(point))
        slopes = np.stack([np.where(CORNERS[:, i] == 1, 1.0, -1.0) * np.delete(factors, i, axis=1).prod(axis=1)
                           for i in range(3)], axis=1)
        strain = np.zeros((6, 8, 3))
        for i in range(3):
            strain[i, :, i] = slopes[:, i]
            j = (i + 1) % 3
            strain[3 + i, :, i], strain[3 + i, :, j] = slopes[:, j], slopes[:, i]
        strain = strain.reshape(6, 24)
        result += strain.T @ law @ strain / 8.0
    return result


def free_block(elements):
    """Three unknowns a node, nodes with x fastest; and the places of the nodes."""
    nodes = np.array(elements) + 1
    strides = np.array([1, nodes[0], nodes[0] * nodes[1]])
    first = np.array(list(itertools.product(*(range(n) for n in elements))))
    unknowns = (3 * ((first[:, None, :] + CORNERS) @ strides)[:, :, None] + np.arange(3)).reshape(len(first), 24)
    rows, columns = np.repeat(unknowns, 24, axis=1).ravel(), np.tile(unknowns, (1, 24)).ravel()
    values = np.tile(element_stiffness().ravel(), len(first))
    places = np.array(list(itertools.product(*(range(n) for n in nodes[::-1]))))[:, ::-1]
    return sp.coo_matrix((values, (rows, columns)), shape=(3 * nodes.prod(),) * 2).tocsr(), places


def rigid_motions(places):
    """Three translations and three rotations, orthonormal."""
    motions = np.zeros((len(places), 3, MOTIONS))
    for i in range(3):
        motions[:, i, i] = 1.0
        motions[:, :, 3 + i] = np.cross(np.eye(3)[i], places - places.mean(axis=0))
    return np.linalg.qr(motions.reshape(-1, MOTIONS))[0]


class FreeBody(harness.AppTest):
    @classmethod
    def setUpClass(cls):
        cls.a, places = free_block(ELEMENTS)
        cls.motions = rigid_motions(places)
        cls.values = scipy.linalg.eigvalsh(cls.a.toarray(), subset_by_index=[0, 19])
        cls.norm = abs(cls.a).sum(axis=1).max()

    def read(self, *names):
        with h5py.File(self.path("result.h5")) as file:
            return [file[name][:] for name in names]

    def check_pairs(self, preconditioner, more=""):
        text = MATRIX + "eigensolver: {pairs: 12%s}\noutput: {file: result.h5}\n" % more
        run = self.run_program(self.config(text), "eigensolver.preconditioner={type: %s}" % preconditioner, timeout=120)
        self.assertEqual(run.code, 0, run)
        values, vectors, status = self.read("eigenvalues", "eigenvectors", "status")
        self.assertLess(abs(values[:MOTIONS]).max(), 100 * EPSILON * self.norm, run)
        np.testing.assert_allclose(values[MOTIONS:], self.values[MOTIONS:12], rtol=1e-10)
        self.assertTrue((status[:MOTIONS] == b"at_accuracy_limit").all(), run)
        self.assertTrue((status[MOTIONS:] == b"converged").all(), run)
        # Residuals of the matrix of this file: the generated one is no other.
        residuals = np.linalg.norm(self.a @ vectors - vectors * values, axis=0)
        self.assertLess(residuals[:MOTIONS].max(), 100 * EPSILON * self.norm, run)
        self.assertTrue((residuals[MOTIONS:] <= 1.1e-8 * values[MOTIONS:]).all(), run)
        along = np.linalg.norm(self.motions.T @ vectors[:, :MOTIONS], axis=0)
        np.testing.assert_allclose(along, 1.0, rtol=1e-10, err_msg="no rigid-body motions")

    def test_pairs(self):
        for preconditioner in ("auto", "amg"):
            for more in ("", ", dense_up_to: 0"):
                with self.subTest(preconditioner=preconditioner, more=more):
                    self.check_pairs(preconditioner, more)

    def solve(self, f, preconditioner):
        with h5py.File(self.path("f.h5"), "w") as file:
            file["F"] = f
        text = MATRIX + "right_hand_sides: {file: f.h5}\noutput: {file: result.h5}\n"
        line = harness.command([self.config(text), "linear_solver.preconditioner={type: %s}" % preconditioner])
        line[line.index(harness.options.program)] = os.path.join(os.path.dirname(harness.options.program), "block-solve")
        return harness.run_command(line, self.folder, 120)

    def test_systems_in_range(self):
        f = self.a @ np.random.default_rng(3).standard_normal((self.a.shape[0], 3))
        for preconditioner in ("auto", "amg"):
            with self.subTest(preconditioner=preconditioner):
                run = self.solve(f, preconditioner)
                self.assertEqual(run.code, 0, run)
                x, = self.read("solution")
                residuals = np.linalg.norm(f - self.a @ x, axis=0)
                self.assertTrue((residuals <= 1.01e-8 * np.linalg.norm(f, axis=0)).all(), run)

    def test_systems_out_of_range(self):
        """A force that moves the block as a whole: one sentence says so, and what to do."""
        f = np.random.default_rng(3).standard_normal((self.a.shape[0], 2))
        for preconditioner in ("auto", "amg"):
            with self.subTest(preconditioner=preconditioner):
                run = self.solve(f, preconditioner)
                self.assertEqual(run.code, 4, run)
                self.assertEqual(run.errors(), [], run)
                said = [line for line in run.stderr.splitlines() if line.startswith("block-solve: ")]
                self.assertEqual(len(said), 1, run)
                for words in ("2 of 2 right-hand sides not converged (1-2)", "A is singular", "not in its range",
                              "take the null vectors of A"):
                    self.assertIn(words, said[0], run)
                x, = self.read("solution")
                self.assertTrue(np.isfinite(x).all(), run)
                residuals = np.linalg.norm(f - self.a @ x, axis=0)
                self.assertTrue((residuals <= 1.01 * np.linalg.norm(f, axis=0)).all(), run)


if __name__ == "__main__":
    harness.main()
