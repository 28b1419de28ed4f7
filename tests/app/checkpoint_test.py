"""Checkpoints: the same command goes on, in all phases, on any number of ranks; and what is refused."""

import os

import harness
import h5py
import interrupted
import numpy as np
import scipy.linalg
import scipy.sparse as sp

GRID = "matrix: {generate: laplacian3d, size: [24, 25, 26]}"
JACOBI = "eigensolver: {pairs: 6, preconditioner: {type: jacobi}, filtered_start: false}"

# What a run goes through: name, config, options for all runs.
WAYS = {
    "jacobi": f"{{{GRID}, {JACOBI}}}",
    "filters": f"{{{GRID}, eigensolver: {{pairs: 12, preconditioner: {{type: none}}}}}}",
    "basis": f"{{{GRID}, eigensolver: {{pairs: 12, filter: basis, preconditioner: {{type: none}}}}}}",
    "auto": f"{{{GRID}, eigensolver: {{pairs: 6}}}}",
    "chebyshev": f"{{{GRID}, eigensolver: {{pairs: 6, preconditioner: {{type: chebyshev}}}}}}",
    "mixed": f"{{{GRID}, eigensolver: {{pairs: 6, preconditioner: {{type: jacobi}}, filtered_start: false,"
    " inner_precision: float}}",
    "amg": f"{{{GRID}, eigensolver: {{pairs: 6, tolerance: 1e-10, preconditioner: {{type: amg}}}}}}",
    "windows": f"{{{GRID}, eigensolver: {{pairs: 30, block_size: 10, preconditioner: {{type: chebyshev}}}}}}",
    "filtered_windows": f"{{{GRID}, eigensolver: {{pairs: 24, block_size: 12, preconditioner: {{type: none}}}}}}",
    "largest": f"{{{GRID}, eigensolver: {{pairs: 5, which: largest, preconditioner: {{type: none}},"
    " filtered_start: false}}",
    "single": f"{{{GRID}, precision: float, eigensolver: {{pairs: 6, tolerance: 1e-4, preconditioner: {{type: jacobi}},"
    " filtered_start: false}}",
    "mass": "{matrix: {file: a.npz}, mass: {file: b.npz}, eigensolver: {pairs: 5, preconditioner: {type: jacobi}}}",
    "constraints": "{matrix: {file: a.npz}, eigensolver: {pairs: 5, preconditioner: {type: jacobi},"
    " constraints: {file: in.h5, dataset: lowest}}}",
    # auto takes one way after the other here.
    "changes": "{matrix: {file: path.npz}, eigensolver: {pairs: 5, dense_up_to: 0}}",
    "graph": "{matrix: {file: a.npz}, partition: graph, eigensolver: {pairs: 5, filtered_start: false,"
    " preconditioner: {type: jacobi}}}",
}
F = "right_hand_sides: {random: 5}"
SYSTEMS = {
    "system_jacobi": f"{{{GRID}, {F}, linear_solver: {{preconditioner: {{type: jacobi}}}}}}",
    "system_plain": f"{{{GRID}, {F}, linear_solver: {{preconditioner: {{type: none}}, tolerance: 1e-12}}}}",
    "system_turns": f"{{{GRID}, {F}, linear_solver: {{block_size: 2, preconditioner: {{type: jacobi}}}}}}",
    "system_auto": f"{{{GRID}, {F}, linear_solver: {{block_size: 5}}}}",
    "system_single": f"{{{GRID}, {F}, precision: float, linear_solver: {{tolerance: 1e-4, preconditioner: {{type: jacobi}}}}}}",
    "system_scaled": "{matrix: {file: a.npz}, right_hand_sides: {file: in.h5, dataset: sides}, linear_solver:"
    " {block_size: 2, preconditioner: {type: none}}}",
}
# Iterations of a run that goes on, beyond those of one that was not interrupted: two, and where it iterates in float the
# share by which the order of sums alone moves uninterrupted runs (202 to 208 iterations of "mixed" at 1 to 4 ranks of 1
# to 5 threads).
MORE = 2
MORE_IN_FLOAT = 0.03


class CheckpointTest(harness.AppTest):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(5)
        n = 2500
        a = sp.diags([np.full(n - 1, -1.0), 2.0 + np.linspace(0.0, 3.0, n), np.full(n - 1, -1.0)], [-1, 0, 1])
        b = sp.diags(1.0 + rng.random(n)) + 0.1 * sp.diags([np.ones(n - 1), np.ones(n - 1)], [-1, 1])
        sp.save_npz(self.path("a.npz"), sp.csr_matrix(a))
        sp.save_npz(self.path("b.npz"), sp.csr_matrix(b))
        # Far from sizes where two ways cost alike, and the order of sums would choose.
        weights = 10.0 ** (5.0 * np.random.default_rng(1).random(2999))
        diagonal = np.append(weights, 0.0) + np.append(0.0, weights) + 1e-3
        sp.save_npz(self.path("path.npz"), sp.csr_matrix(sp.diags([-weights, diagonal, -weights], [-1, 0, 1])))
        with h5py.File(self.path("in.h5"), "w") as file:
            diagonal, beside = 2.0 + np.linspace(0.0, 3.0, n), np.full(n - 1, -1.0)
            file["lowest"] = scipy.linalg.eigh_tridiagonal(diagonal, beside, select="i", select_range=(0, 1))[1]
            file["sides"] = np.concatenate([rng.standard_normal((n, 3)), 1e200 * rng.standard_normal((n, 2))], axis=1)

    def fresh(self, config, ranks=None):
        result = self.run_program(config, "output.file=fresh.h5", ranks=ranks)
        if "this build is without" in result.stderr:
            self.skipTest("no PT-Scotch in this build")
        self.assertEqual(result.code, 0, result)
        return interrupted.iterations_of(result), self.found("fresh.h5")

    def found(self, name):
        """Eigenvalues, or solutions; with them as many rows of history as there were iterations."""
        with h5py.File(self.path(name)) as file:
            self.assertTrue(file["converged"][()].all())
            values = file["eigenvalues"][()] if "eigenvalues" in file else file["solution"][()]
            return values, file["history/seconds"].shape[0]

    def most_iterations(self, config, uninterrupted):
        with open(self.path(config), encoding="utf-8") as file:
            begun_in_float = "inner_precision: float" in file.read()
        return uninterrupted + MORE + (int(MORE_IN_FLOAT * uninterrupted) if begun_in_float else 0)

    def goes_on(self, config, ranks, iterations, values, what):
        result = interrupted.resumed([config, "output.file=on.h5", "checkpoint.file=c.h5"], self.folder, ranks)
        self.assertEqual(result.code, 0, f"{what}\n{result}")
        self.assertRegex(result.stdout, "checkpoint: (goes on from iteration|.* is that of a finished run)", what)
        total = interrupted.iterations_of(result)
        print(f"{what}: {total} iterations, {iterations} without interruption", flush=True)
        if total > self.most_iterations(config, iterations) and ranks != harness.options.ranks:
            # Other ranks add in another order, which is worth some iterations, interrupted or not.
            iterations, _ = self.fresh(config, ranks)
            print(f"{what}: {iterations} without interruption on {ranks} ranks", flush=True)
        self.assertLessEqual(total, self.most_iterations(config, iterations), f"{what}\n{result}")
        now, rows = self.found("on.h5")
        self.assertEqual(rows, total, what)
        np.testing.assert_allclose(now, values, rtol=1e-3, atol=1e-3 * np.abs(values).max() / 100, err_msg=what)
        return total

    def check_way(self, config):
        config = self.config(config)
        iterations, (values, _) = self.fresh(config)
        ranks = harness.options.ranks
        places = [(0.5, 1 if ranks > 1 else 2)]
        if os.environ.get("BLOCK_EIGS_KILLS"):  # all of them take minutes
            places += [(0.1, ranks), (0.9, ranks)]
        for share, other in places:
            stop = max(int(share * iterations), 1)
            line = harness.command([config, "checkpoint.file=c.h5", "checkpoint.every=0"])
            interrupted.killed(line, self.folder, self.path("c.h5"), iteration=stop)
            at = interrupted.iterations_in(self.path("c.h5"))
            self.assertGreaterEqual(at, 0, config)
            self.goes_on(config, other, iterations, values, f"{ranks} to {other} ranks, from {at}")
            os.remove(self.path("c.h5"))

    def check_stops(self, config, section):
        """Stopped by max_iterations again and again."""
        config = self.config(config)
        iterations, (values, _) = self.fresh(config)
        for limit in (iterations // 4, iterations // 2):
            result = self.run_program(config, "checkpoint.file=c.h5", f"{section}.max_iterations={limit}")
            self.assertEqual(result.code, 4, result)
            self.assertIn("the same command goes on from there", result.stdout)
            self.assertEqual(interrupted.iterations_of(result), limit)
        self.goes_on(config, harness.options.ranks, iterations, values, "stopped twice")
        # A finished one says so.
        result = self.run_program(config, "checkpoint.file=c.h5")
        self.assertIn("is that of a finished run", result.stdout)
        self.assertEqual(result.code, 0, result)


class EigensolverTest(CheckpointTest):
    def test_stops(self):
        self.check_stops(WAYS["jacobi"], "eigensolver")

    def test_more_iterations_for_ways_that_had_too_few(self):
        """With 2 iterations auto tries way after way; what it comes to last is not all that is left with more."""
        config = self.config("matrix: {generate: laplacian2d, size: [40, 41]}\noutput: {file: result.h5}\n"
                             "eigensolver: {pairs: 8, which: largest, tolerance: 1.0e-12, dense_up_to: 0}\n")
        iterations, (values, _) = self.fresh(config)
        for limit in (2, 9):
            result = self.run_program(config, "checkpoint.file=c.h5", f"eigensolver.max_iterations={limit}")
            self.assertIn(result.code, (0, 4), result)
        result = self.run_program(config, "checkpoint.file=c.h5")
        self.assertEqual(result.code, 0, result)
        self.assertLess(interrupted.iterations_of(result), iterations + 40)
        with h5py.File(self.path("result.h5")) as file:
            np.testing.assert_allclose(file["eigenvalues"][()], values, rtol=1e-12)

    def test_basis_of_pairs_that_are_done(self):
        """They are locked when a run goes on, which needs fewer columns than the state holds."""
        config = self.config(WAYS["basis"])
        iterations, (values, _) = self.fresh(config)
        for limit in range(max(iterations - 5, 1), iterations):
            result = self.run_program(config, "checkpoint.file=c.h5", f"eigensolver.max_iterations={limit}")
            self.assertEqual(result.code, 4, result)
            self.goes_on(config, harness.options.ranks, iterations, values, f"from {limit}")
            os.remove(self.path("c.h5"))

    def test_no_window_again(self):
        """Pairs of windows that are done are those of the state, bit for bit."""
        config = self.config(WAYS["windows"])
        line = harness.command([config, "checkpoint.file=c.h5", "checkpoint.every=0"])
        interrupted.killed(line, self.folder, self.path("c.h5"), iteration=60)
        with h5py.File(self.path("c.h5")) as file:
            if "finished" in file["numbers"]:  # which holds no state of iterations any more
                self.skipTest("it was done before it could be killed")
            locked = file["numbers/locked_values"][()]
        self.assertGreater(len(locked), 5)
        result = interrupted.resumed([config, "output.file=on.h5", "checkpoint.file=c.h5"], self.folder, None)
        self.assertEqual(result.code, 0, result)
        with h5py.File(self.path("on.h5")) as file:
            history = file["history/eigenvalues"][()]
            np.testing.assert_array_equal(history[-1, : len(locked)], locked)
            np.testing.assert_allclose(file["eigenvalues"][: len(locked)], locked, rtol=1e-12)


class LinearSolverTest(CheckpointTest):
    def setUp(self):
        super().setUp()
        eigensolver = harness.options.program
        harness.options.program = os.path.join(os.path.dirname(eigensolver), "block-solve")
        self.addCleanup(setattr, harness.options, "program", eigensolver)

    def test_stops(self):
        self.check_stops(SYSTEMS["system_jacobi"], "linear_solver")

    def test_float_rounds(self):
        """Between rounds in float: the one at work is lost, no more."""
        config = self.config(f"{{{GRID}, {F}, linear_solver: {{inner_precision: float, preconditioner: {{type: jacobi}}}}}}")
        iterations, (values, _) = self.fresh(config)
        line = harness.command([config, "checkpoint.file=c.h5", "checkpoint.every=0"])
        interrupted.killed(line, self.folder, self.path("c.h5"), iteration=1)
        self.goes_on(config, 1, iterations, values, "after a round in float")


def add(to, name, config):
    setattr(to, f"test_{name}", lambda self: self.check_way(config))


for name, config in WAYS.items():
    add(EigensolverTest, name, config)
for name, config in SYSTEMS.items():
    add(LinearSolverTest, name, config)

if __name__ == "__main__":
    harness.main()
