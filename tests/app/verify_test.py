"""verify as users meet it. Probes where a bound would be wrong; inertia: in their units, within the limits of memory,
and foreseen by --check."""

import os
import re

import harness
import h5py
import numpy as np
import scipy.io
import scipy.sparse as sp

MEBIBYTE = 1024  # of ulimit's units
GRID = """
matrix: {generate: laplacian3d, size: [%d, %d, %d]}
eigensolver: {pairs: 8, verify: inertia, tolerance: 1e-6}
output: {file: out.h5}
"""


def grid_laplacian(n):
    line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
    one = sp.eye(n)
    return sum(sp.kron(sp.kron(*pair[:2]), pair[2]) for pair in ((line, one, one), (one, line, one), (one, one, line)))


def in_bytes(text):
    number, unit = text.split()
    return float(number) * {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}[unit]


class InertiaTest(harness.AppTest):
    def setUp(self):
        super().setUp()
        probe = self.run_program(self.config(GRID % (6, 6, 6)), "--check")
        if "needs" in probe.stderr:
            self.skipTest(probe.stderr)

    def limited(self, limit):
        """Runs block-eigs with `limit` MiB of address space for each rank."""
        launcher = [] if harness.options.ranks == 1 else harness.command([])[:-1]
        shell = f'ulimit -v {limit * MEBIBYTE}; exec "$0" "$@"'
        return harness.run_command(launcher + ["bash", "-c", shell, harness.options.program, "run.yaml"], self.folder)

    def attributes(self):
        with h5py.File(self.path("out.h5")) as file:
            return dict(file.attrs), file["eigenvalues"][:]

    def test_a_mass_that_is_none_is_no_certificate(self):
        """One eigenvalue of B is -1e-3, far from the others: what iterations find may never meet it, and pivots of
        A - sigma B count something else then."""
        side = 16
        line = sp.diags([1.0, 1.0], [-1, 1], shape=(side, side))
        neighbours = sp.kronsum(sp.kronsum(line, line), line)
        largest = 6 * np.cos(np.pi / (side + 1))
        self.save(8 * sp.eye(side**3) + neighbours, "a.npz")
        self.save((largest - 1e-3) * sp.eye(side**3) - neighbours, "b.npz")
        result = self.run_program(self.config(
            "matrix: {file: a.npz}\nmass: {file: b.npz}\neigensolver: {pairs: 5, verify: inertia}\n"))
        self.assert_refused(result, 2, ["mass matrix B is not positive definite, 1 of its 4096 eigenvalues is negative"])

    def test_rounding_where_the_mass_is_small_misses_nobody(self):
        """What was found has most of its mass where B is large; others of the zeros lie where it is small."""
        side = 14
        line = sp.diags([np.ones(side - 1), -np.ones(side)], [1, 0], shape=(side, side))
        curl = sp.hstack([-sp.kron(sp.eye(side), line), sp.kron(line, sp.eye(side))])
        matrix = (curl.T @ curl).tocsr()
        mass = sp.diags(10 ** np.random.default_rng(0).uniform(-2, 2, matrix.shape[0]))
        self.save(matrix, "a.npz")
        self.save(mass, "b.npz")
        result = self.run_program(self.config(
            "matrix: {file: a.npz}\nmass: {file: b.npz}\neigensolver: {pairs: 1, verify: inertia}\n"
            "output: {file: out.h5}\n"))
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.attributes()[0]["proof"], "inertia", result)
        self.assertNotIn("missing", result.stdout + result.stderr)

    def test_counts_in_the_units_of_the_matrix(self):
        for factor in (1e200, 1e-200):
            matrix = sp.coo_matrix(grid_laplacian(12) * factor)
            scipy.io.mmwrite(self.path("a.mtx"), matrix, symmetry="symmetric")
            result = self.run_program(self.config(
                "matrix: {file: a.mtx}\neigensolver: {pairs: 7, verify: inertia}\noutput: {file: out.h5}\n"))
            self.assertEqual(result.code, 0, result)
            about, values = self.attributes()
            self.assertEqual(about["proof"], "inertia")
            self.assertEqual(about["proof_counted"], 7)
            self.assertTrue(values[-1] <= about["proof_shift"] <= 1.001 * values[-1])
            self.assertTrue(np.isnan(about["proof_missing_to"]))

    def test_check_foresees_the_factors(self):
        self.config(GRID % (36, 36, 36))
        checked = self.run_program("run.yaml", "--check", timeout=120)
        self.assertEqual(checked.code, 0, checked)
        foreseen = in_bytes(re.search(r"that a rank will need: (\S+ \S+)", checked.stdout).group(1))
        factors = in_bytes(re.search(r"factors of verify: inertia (\S+ \S+)\)", checked.stdout).group(1))
        self.assertGreater(factors, 1e8 / harness.options.ranks)
        run = self.run_program("run.yaml", timeout=240)
        self.assertEqual(run.code, 0, run)
        taken, predicted = (in_bytes(text) for text in
                            re.search(r"memory of a rank: (\S+ \S+) \(predicted (\S+ \S+)\)", run.stdout).groups())
        # MUMPS reserves half as much again for pivots, and touches of that what it needs.
        self.assertLess(taken, 1.1 * foreseen)
        self.assertLess(foreseen, 1.4 * taken)
        self.assertLess(abs(predicted - foreseen), 0.15 * foreseen)

    def test_without_memory_for_factors_the_result_is_there(self):
        side = 36 if harness.options.ranks == 1 else 44  # factors of a rank take more than what a run must have to start
        self.config(GRID % (side, side, side))
        certain = missing = 0
        for limit in (4096, *range(1000, 400, -100), *range(950, 400, -100)):
            if limit == 950 and missing > 0:
                break  # the gap between what a solve needs and a certificate was met
            if os.path.exists(self.path("out.h5")):
                os.remove(self.path("out.h5"))
            result = self.limited(limit)
            about = f"{limit} MiB: {result}"
            if result.code == 0:
                certain += 1
                self.assertEqual(self.attributes()[0]["proof"], "inertia", about)
                continue
            if "PMIX ERROR" in result.stderr:
                continue
            if result.code == 2:  # foreseen before the solve
                self.assert_refused(result, 2, ["not enough memory"])
                self.assertFalse(os.path.exists(self.path("out.h5")), about)
                continue
            self.assertEqual(result.code, 3, about)
            if not os.path.exists(self.path("out.h5")):
                self.assertEqual(len(result.errors()), 1, about)
                self.assertIn("memory", result.errors()[0], about)  # not even the solve has had enough
                continue
            missing += 1
            said = re.findall("^block-eigs: no certificate: none, inertia failed: (.*)$", result.stderr, re.MULTILINE)
            self.assertEqual(len(said), 1, about)
            self.assertIn("memory", said[0], about)
            attributes, values = self.attributes()
            self.assertEqual(attributes["proof"], "none")
            self.assertIn(said[0], attributes["proof_statement"])
            self.assertEqual(len(values), 8)
        self.assertGreater(certain, 0)
        self.assertGreater(missing, 0)

    def test_counts_by_default_where_that_costs_little(self):
        small = "inertia" if harness.options.ranks == 1 else "probe|inertia"
        for size, proof in (([30, 29, 1], small), ([40, 40, 40], "probe")):
            result = self.run_program(self.config(
                f"matrix: {{generate: laplacian3d, size: {size}}}\neigensolver: {{pairs: 8, tolerance: 1e-6}}\n"
                "output: {file: out.h5}\n"), timeout=240)
            self.assertEqual(result.code, 0, result)
            about, values = self.attributes()
            self.assertRegex(about["proof"], f"^({proof})$", result)
            if about["proof"] == "inertia":
                self.assertEqual(about["proof_counted"], 8)
                self.assertTrue(values[-1] <= about["proof_shift"])

    def test_a_count_that_would_take_long_is_given_up(self):
        """Zero 64 times over in each of 150 stars: next to it factors are full, and nobody has asked for them."""
        star = sp.coo_matrix((np.ones(64), (np.zeros(64, int), np.arange(1, 65))), shape=(65, 65))
        self.save(sp.block_diag([star + star.T] * 150, format="csr"), "a.npz")
        result = self.run_program(self.config(
            "matrix: {file: a.npz}\neigensolver: {pairs: 152}\noutput: {file: out.h5}\n"), timeout=60)
        self.assertEqual(result.code, 0, result)
        about, values = self.attributes()
        np.testing.assert_allclose(values, [-8.0] * 150 + [0.0] * 2, atol=1e-6)
        self.assertIn(about["proof"], ("inertia", "probe"))
        if about["proof"] == "inertia":
            self.assertRegex(about["proof_statement"], "150 found: none missed; the last value has at least 9[0-9]{3}")

    def test_what_is_missing_right_before_a_cluster_is_no_part_of_it(self):
        """A rook's graph has 0, 30, 40, 70; vectors are given of the first of these spaces and the second or third.
        Right before 30 rounding errors make some pivot of its 29 copies negative, which is no missing pair."""
        sides = (40, 30)
        complete = [side * np.eye(side) - np.ones((side, side)) for side in sides]
        self.save(np.kron(complete[0], np.eye(30)) + np.kron(np.eye(40), complete[1]), "a.npz")
        random = np.random.default_rng(1)
        for missing in (False, True):
            one, other = (random.standard_normal((side, 2)) for side in sides)
            start = (np.kron(one - one.mean(axis=0), np.ones((sides[1], 1))) if missing
                     else np.kron(np.ones((sides[0], 1)), other - other.mean(axis=0)))
            with h5py.File(self.path("x.h5"), "w") as file:
                file["X"] = np.linalg.qr(np.c_[np.ones(1200), start])[0]
            result = self.run_program(self.config(
                "matrix: {file: a.npz}\neigensolver: {pairs: 3, block_size: 3, verify: inertia, initial: {file: x.h5}, "
                "filtered_start: false, dense_up_to: 0, preconditioner: {type: none}}\noutput: {file: out.h5}\n"))
            self.assertEqual(result.code, 0, result)
            about, values = self.attributes()
            np.testing.assert_allclose(values, [0.0, 30.0, 30.0], atol=1e-6, err_msg=str(result))
            self.assertEqual(about["proof_recovered"] > 0, missing, result)

    def test_pivots_of_rounding_errors_are_no_missing_pairs(self):
        """Next to an eigenvalue of a multiplicity in the hundreds hundreds of pivots are zero but for rounding errors."""
        random = np.random.default_rng(5)
        factor = sp.random(1000, 10, 0.1, random_state=1010).tocsr()
        factor.data -= 0.5
        mass = sp.diags(random.uniform(0.5, 1.5, 1000))
        for matrix, massive in ((factor @ factor.T, False), (factor @ factor.T, True), (-factor @ factor.T, False)):
            self.save(matrix.tocsr(), "a.npz")
            self.save(mass.tocsr(), "b.npz")
            which = "largest" if matrix.diagonal().sum() < 0 else "smallest"
            for verify in ("auto", "inertia"):
                result = self.run_program(self.config(
                    f"matrix: {{file: a.npz}}\n{'mass: {file: b.npz}' if massive else ''}\neigensolver: {{pairs: 3, "
                    f"which: {which}, verify: {verify}}}\noutput: {{file: out.h5}}\n"))
                self.assertEqual(result.code, 0, result)
                about, values = self.attributes()
                np.testing.assert_allclose(values, 0.0, atol=1e-10)
                self.assertEqual(about["proof_missing"], 0, result)
                if verify == "inertia":
                    self.assertRegex(result.stdout, "none before those that were found, which are 3 of at least [3-9][0-9]{2} "
                                     "within .* of one another: .* nor from zero, .* extend over")

    def test_values_that_rounding_errors_do_not_tell_apart_are_no_certificate(self):
        """A chain that floats, with entries of 1e7 and a mass of 1e-3, beside one whose values are 5e-5: its zero is
        within what rounding errors leave open, and both proofs say so, whether it is found or not."""
        n = 800
        neumann = sp.diags([np.r_[1.0, np.full(n - 2, 2.0), 1.0], -np.ones(n - 1), -np.ones(n - 1)], [0, -1, 1])
        element = sp.diags([np.r_[2.0, np.full(n - 2, 4.0), 2.0], np.ones(n - 1), np.ones(n - 1)], [0, -1, 1]) / 6
        other = harness.laplacian(n) + 0.05 * sp.eye(n)
        self.save(sp.block_diag([1e7 * neumann, 1e-3 * other], format="csr"), "a.npz")
        self.save(sp.block_diag([1e-3 * element, element], format="csr"), "b.npz")
        for verify in ("auto", "inertia"):
            result = self.run_program(self.config(
                f"matrix: {{file: a.npz}}\nmass: {{file: b.npz}}\neigensolver: {{pairs: 2, verify: {verify}}}\n"
                "output: {file: out.h5}\n"), timeout=120)
            self.assertEqual(result.code, 0, result)
            statement = self.attributes()[0]["proof_statement"]
            self.assertRegex(statement, "confidence 99% only|without confidence|next to nothing|none before those that were found")


class ProbeTest(harness.AppTest):
    def test_jacobi_beside_small_diagonals_and_a_negative_shift(self):
        """D^-1 (A - sigma) reaches |sigma| / min d, far beyond what bounds D^-1 A. Vectors are given that belong to
        pairs 4 to 15, so that the first three are missed."""
        rows, low = 2200, 24
        random = np.random.default_rng(46)
        values = 10.0 ** random.uniform(-12, -3, rows)
        values[:low] = -0.02 - 0.01 * np.sort(random.random(low))
        turns = harness.random_turns(rows, 2, random)
        a = turns @ sp.diags(values) @ turns.T
        self.save((a + a.T) / 2, "a.npz")
        order = np.argsort(values)
        with h5py.File(self.path("x.h5"), "w") as file:
            file["X"] = turns.tocsc()[:, order[3:15]].toarray()
        for way in ("auto", "jacobi"):
            result = self.run_program(self.config(
                "matrix: {file: a.npz}\neigensolver: {pairs: 12, initial: {file: x.h5}, tolerance: 1e-5, convergence: norm, "
                "dense_up_to: 0, preconditioner: {type: %s}}\noutput: {file: out.h5}\n" % way))
            with self.subTest(way):
                self.assertIn(result.code, (0, 4), result)
                with h5py.File(self.path("out.h5")) as file:
                    np.testing.assert_allclose(file["eigenvalues"][:3], values[order[:3]], rtol=1e-2)

    def test_jacobi_beside_one_tiny_diagonal_entry(self):
        """Jacobi divides by a larger number there, with which the spectrum does not reach what the entry itself would
        make of it. Vectors are given that belong to pairs 4 to 9."""
        rows, low = 1200, 12
        random = np.random.default_rng(3)
        values = random.uniform(0.6, 1.0, rows - 2)
        values[:low] = np.linspace(-1.5, -1.0, low)
        turns = harness.random_turns(rows - 2, 2, random)
        a = turns @ sp.diags(values) @ turns.T
        a = sp.block_diag([(a + a.T) / 2, np.array([[1e-10, 0.8], [0.8, 0.9]])]).tocsr()  # -0.5 and 1.4
        self.save(a, "a.npz")
        with h5py.File(self.path("x.h5"), "w") as file:
            file["X"] = np.vstack([turns.tocsc()[:, 3:9].toarray(), np.zeros((2, 6))])
        result = self.run_program(self.config(
            "matrix: {file: a.npz}\neigensolver: {pairs: 6, initial: {file: x.h5}, tolerance: 1e-6, convergence: norm, "
            "filtered_start: false, dense_up_to: 0, preconditioner: {type: jacobi}}\noutput: {file: out.h5}\n"))
        self.assertEqual(result.code, 0, result)
        with h5py.File(self.path("out.h5")) as file:
            np.testing.assert_allclose(file["eigenvalues"][:], values[:6], rtol=1e-6)

    def test_float_beside_penalties_sees_little_and_says_so(self):
        """Rounding errors of float are thousands of times larger than the values that are wanted."""
        penalties = sp.diags(np.where(np.arange(3600) < 60, 1e8, 0.0))
        sp.save_npz(self.path("a.npz"), (sp.kronsum(harness.laplacian(60), harness.laplacian(60)) + penalties).tocsr())
        run = self.run_program(self.config("{matrix: {file: a.npz}, eigensolver: {pairs: 4, tolerance: 1.0e-4}, "
                                           "precision: float}"))
        self.assertRegex(run.stdout, r"proof: probe, confidence 99% only .* times what the found ones extend over")


class DenseTest(harness.AppTest):
    def statement_for(self, matrix):
        self.save(matrix)
        result = self.run_program(self.config(
            "matrix: {file: a.npz}\neigensolver: {pairs: 5}\noutput: {file: out.h5}\n"))
        with h5py.File(self.path("out.h5")) as file:
            self.assertEqual(file.attrs["proof"], "dense", result)
            return file.attrs["proof_statement"]

    def test_says_how_well_values_are_known(self):
        said = re.fullmatch("all eigenvalues were computed, each within ([0-9.e+-]+): none missed",
                            self.statement_for(harness.laplacian(24)))
        self.assertIsNotNone(said)
        self.assertTrue(1e-16 < float(said.group(1)) < 1e-12)

    def test_values_below_rounding_errors_may_be_missed(self):
        """A chain whose stiffness falls from end to end by thirty orders of magnitude."""
        stiffness = 10.0 ** np.linspace(0, -30, 24)
        chain = sp.diags([stiffness + np.r_[stiffness[1:], 0.0], -stiffness[1:], -stiffness[1:]], [0, -1, 1])
        said = self.statement_for(chain)
        self.assertRegex(said, "each within .*, which is more than .*: others as near to them may have been missed")
        self.assertNotIn("none missed", said)


if __name__ == "__main__":
    harness.main()
