"""The preconditioners amg and petsc as users ask for them, in both programs: answers, and what a mistake gets."""

import os
import re

import harness
import h5py
import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg
import scipy.spatial
from result_test import grid_spectrum

ICC = "-pc_type bjacobi -sub_pc_type icc"


def truss(shape):
    """Nodes on a grid, springs along edges and diagonals, the nodes of the first face held: stiffness matrix and places."""
    places = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1).reshape(-1, len(shape)).astype(float)
    pairs = scipy.spatial.cKDTree(places).query_pairs(1.8, output_type="ndarray")
    along = places[pairs[:, 1]] - places[pairs[:, 0]]
    along /= np.linalg.norm(along, axis=1)[:, None]
    dimensions, springs = len(shape), len(pairs)
    row = np.repeat(np.arange(springs), 2 * dimensions)
    column = (pairs[:, :, None] * dimensions + np.arange(dimensions)).reshape(springs, -1)
    stretch = sp.csr_matrix((np.hstack([-along, along]).ravel(), (row, column.ravel())), shape=(springs, places.size))
    free = places[:, 0] > 0
    kept = np.repeat(free, dimensions)
    return (stretch.T @ stretch)[kept][:, kept].tocsr(), places[free]


def petsc(options):
    return f"{{type: petsc, options: '{options}'}}"


class PreconditionerTest(harness.AppTest):
    without_petsc = None

    def setUp(self):
        super().setUp()
        if PreconditionerTest.without_petsc is None:
            check = self.check(petsc(ICC))
            PreconditionerTest.without_petsc = "this build has no PETSc" in check.stderr

    def check(self, preconditioner, **more):
        options = "".join(f", {key}: {value}" for key, value in more.items())
        return self.run_program("--check", self.config("matrix: {generate: laplacian1d, size: [40]}\n"
                                                       f"eigensolver: {{preconditioner: {preconditioner}{options}}}\n"))

    def needs_petsc(self):
        if self.without_petsc:
            self.skipTest("this build has no PETSc")

    def with_petsc(self, *preconditioners):
        return [] if self.without_petsc else list(preconditioners)

    def solve(self, preconditioner, matrix="generate: laplacian3d, size: [16, 12, 10]", **more):
        options = {"pairs": 6, "tolerance": "1.0e-8", **more}
        lines = "".join(f"  {key}: {value}\n" for key, value in options.items())
        result = self.run_program(self.config(f"matrix: {{{matrix}}}\neigensolver:\n{lines}"
                                              f"  preconditioner: {preconditioner}\noutput: {{file: out.h5}}\n"),
                                  timeout=200)
        self.assertEqual(result.code, 0, result)
        with h5py.File(self.path("out.h5")) as file:
            return file["eigenvalues"][:], len(file["history/seconds"])

    def test_pairs_of_a_grid(self):
        exact = grid_spectrum(16, 12, 10)[:6]
        plain = self.solve("{type: none}", filtered_start="false")[1]
        for preconditioner in ["{type: amg}", "{type: amg, precision: double, degree: 3}"] + self.with_petsc(
                "{type: amg, method: gamg}", "{type: amg, method: hypre}", petsc(ICC), petsc("-pc_type gamg")):
            values, iterations = self.solve(preconditioner)
            np.testing.assert_allclose(values, exact, rtol=1e-10, err_msg=preconditioner)
            self.assertLess(iterations, plain / 2, preconditioner)

    def test_eigensolvers_that_begin_in_float(self):
        exact = grid_spectrum(16, 12, 10)[:6]
        for preconditioner in ("none", "jacobi", "chebyshev", "amg"):
            values, _ = self.solve(f"{{type: {preconditioner}}}", inner_precision="float")
            np.testing.assert_allclose(values, exact, rtol=1e-10, err_msg=preconditioner)
        self.assertIn("begun in float", self.check("{type: amg}").stdout)
        self.assertRegex(self.check("{type: amg}").stdout, r"(?m)^amg: \d+ levels?, operator complexity \d\.\d\d")
        refused = self.check("{type: amg, precision: double}", inner_precision="float")
        self.assert_refused(refused, 2, ["inner_precision", "float"])

    def test_levels_of_runs_in_float_are_those_of_runs_in_double(self):
        """They are made of the rows in double, not of the rounded ones."""
        for matrix in ("{generate: laplacian3d, size: [20, 15, 12], anisotropy: [1.0, 1.0, 0.01]}",
                       "{generate: elasticity3d, size: [8, 7, 6]}"):
            found = []
            for precision in ("double", "float"):
                result = self.run_program(self.config(f"matrix: {matrix}\nprecision: {precision}\neigensolver: {{pairs: 3, "
                                                      "tolerance: 1e-3, preconditioner: {type: amg}}\n"), timeout=200)
                self.assertEqual(result.code, 0, result)
                found.append(re.search(r"(?m)^amg: \d+ levels, operator complexity [\d.]+", result.stdout)[0])
            self.assertEqual(found[0], found[1])

    def test_unknowns_that_no_coarse_level_sees(self):
        """Decoupled rows whose eigenvalues are the smallest, and one in the middle of the wanted ones."""
        grid = sp.kronsum(sp.kronsum(harness.laplacian(12), harness.laplacian(11)), harness.laplacian(10))
        exact = grid_spectrum(12, 11, 10)[:8]
        own = [1e-3, 0.5 * (exact[2] + exact[3]), 7.0]
        self.save(sp.block_diag([grid, sp.diags(own)]))
        for preconditioner in ["{type: amg}"] + self.with_petsc("{type: amg, method: gamg}"):
            values, _ = self.solve(preconditioner, "file: a.npz")
            np.testing.assert_allclose(values, np.sort(np.append(exact, own))[:6], rtol=1e-10, err_msg=preconditioner)

    def test_rigid_body_modes_from_coordinates(self):
        """In space and in the plane, by the name of the nodes' places or of the modes themselves."""
        for shape in ((14, 7, 6), (60, 12)):
            matrix, places = truss(shape)
            self.save(matrix)
            exact = np.sort(sp.linalg.eigsh(matrix.tocsc(), 6, sigma=0, which="LM", return_eigenvectors=False))
            translations = np.tile(np.eye(len(shape)), (len(places), 1))
            with h5py.File(self.path("x.h5"), "w") as file:
                file["places"] = places
                file["translations"] = translations
            iterations = {}
            cases = {"plain": "", "places": ", coordinates: {file: x.h5, dataset: /places}",
                     "translations": ", near_null_space: {file: x.h5, dataset: /translations}, "
                                     f"unknowns_per_node: {len(shape)}"}
            for name, options in cases.items():
                values, iterations[name] = self.solve(f"{{type: amg{options}}}", "file: a.npz", tolerance="1.0e-6")
                np.testing.assert_allclose(values, exact, rtol=1e-7, err_msg=name)
            self.assertLessEqual(iterations["places"], 40)
            self.assertLess(iterations["places"], iterations["plain"], iterations)
            self.assertLess(iterations["places"], iterations["translations"], iterations)

    def test_single_precision(self):
        for preconditioner in ["{type: amg}"] + self.with_petsc(petsc(ICC)):
            result = self.run_program(self.config("matrix: {generate: laplacian3d, size: [12, 12, 12]}\nprecision: float\n"
                                                  "output: {file: out.h5}\n"
                                                  "eigensolver: {pairs: 4, tolerance: 1.0e-4, "
                                                  f"preconditioner: {preconditioner}}}\n"))
            self.assertEqual(result.code, 0, result)
            with h5py.File(self.path("out.h5")) as file:
                np.testing.assert_allclose(file["eigenvalues"][:], grid_spectrum(12, 12, 12)[:4], rtol=1e-7)

    def test_generalized_problem(self):
        """The preconditioner is that of A; against the closed form of linear elements."""
        n = 60
        k = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
        m = sp.diags([1.0, 4.0, 1.0], [-1, 0, 1], shape=(n, n)) / 6
        self.save(sp.kron(k, m) + sp.kron(m, k), "k.npz")
        self.save(sp.kron(m, m), "m.npz")
        c = np.cos(np.pi * np.arange(1, n + 1) / (n + 1))
        one = (2 - 2 * c) / ((4 + 2 * c) / 6)
        exact = np.sort(np.add.outer(one, one).ravel())[:6]
        for preconditioner in ["{type: amg}"] + self.with_petsc(petsc(ICC)):
            values, _ = self.solve(preconditioner, "file: k.npz}\nmass: {file: m.npz")
            np.testing.assert_allclose(values, exact, rtol=1e-9, err_msg=preconditioner)

    def test_linear_systems(self):
        program = os.path.join(os.path.dirname(harness.options.program), "block-solve")
        matrix = sp.kronsum(harness.laplacian(30), harness.laplacian(25)).tocsr()
        self.save(matrix)
        f = np.random.default_rng(1).standard_normal((750, 5))
        with h5py.File(self.path("f.h5"), "w") as file:
            file["F"] = f
        exact = sp.linalg.spsolve(matrix.tocsc(), f)
        block_eigs, harness.options.program = harness.options.program, program
        self.addCleanup(setattr, harness.options, "program", block_eigs)
        for preconditioner in ["{type: amg}"] + self.with_petsc("{type: amg, method: hypre, precision: double}", petsc(ICC)):
            result = self.run_program(self.config("matrix: {file: a.npz}\nright_hand_sides: {file: f.h5}\n"
                                                  "output: {file: out.h5}\nlinear_solver: {tolerance: 1.0e-10, "
                                                  f"preconditioner: {preconditioner}}}\n"))
            self.assertEqual(result.code, 0, result)
            with h5py.File(self.path("out.h5")) as file:
                np.testing.assert_allclose(file["solution"][:], exact, rtol=1e-7, atol=1e-7 * np.abs(exact).max())

    def test_bad_options_are_refused(self):
        self.needs_petsc()
        for options, words in (("-pc_type foo", ["preconditioner.options", "foo"]),
                               ("-pc_type bjacobi -sub_pc_typ icc", ["does not know", "-sub_pc_typ"]),
                               ("pc_type bjacobi", ["'pc_type' is no option", "-pc_type bjacobi"]),
                               ("-pc_type jacobi -pc_jacobi_type 3.5x", ["preconditioner.options"])):
            self.assert_refused(self.check(petsc(options)), 2, words)
        self.assert_refused(self.check("{type: amg, method: gamg, options: -pc_gamg_treshold 0.1}"), 2, ["-pc_gamg_treshold"])

    def test_zero_pivot_is_refused(self):
        self.needs_petsc()
        matrix = harness.laplacian(60).tolil()
        matrix[7, 6:9] = matrix[6:9, 7] = 0.0
        matrix[7, 50] = matrix[50, 7] = 1.0
        self.save(matrix)
        config = self.config(f"matrix: {{file: a.npz}}\neigensolver: {{preconditioner: {petsc(ICC)}}}\n")
        self.assert_refused(self.run_program(config), 2, ["preconditioner petsc", "diagonal entry 7"])

    def test_vectors_that_do_not_fit_are_refused(self):
        with h5py.File(self.path("x.h5"), "w") as file:
            file["places"] = np.zeros((20, 3))
        for key, words in (("coordinates", ["preconditioner.coordinates", "x.h5:/places", "20 x 3", "40 rows"]),
                           ("near_null_space", ["preconditioner.near_null_space", "20 rows", "the matrix has 40"])):
            self.assert_refused(self.check(f"{{type: amg, {key}: {{file: x.h5}}}}"), 2, words)
        self.assert_refused(self.check("{type: amg, unknowns_per_node: 3}"), 2, ["unknowns_per_node", "40 rows"])

    def test_without_petsc_it_says_what_is_missing(self):
        if not self.without_petsc:
            self.skipTest("this build has PETSc")
        for preconditioner in ("{type: amg, method: gamg}", "{type: amg, method: hypre}", petsc(ICC)):
            self.assert_refused(self.check(preconditioner), 2, ["this build has no PETSc", "-DBLOCK_EIGS_PETSC=ON"])


if __name__ == "__main__":
    harness.main()
