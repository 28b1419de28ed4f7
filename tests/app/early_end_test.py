"""Signals and max_seconds end a run with the best that it has: written, verified, exit code 4. Before there is anything
to write they end it with one message and no file.

EARLY_END_TRIES=50 sends so many signals at random moments of each kind of run."""

import os
import random
import signal
import subprocess
import time

import harness
import h5py
import interrupted
import numpy
from killed_rank_test import ranks_of

TRIES = int(os.environ.get("EARLY_END_TRIES", "1"))
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)
SIDE = 44

# Runs whose own end, at the limit of accuracy, is seconds away, by the phase that they spend their time in.
EIGEN = {
    "plain": "filtered_start: false, preconditioner: {type: none}",
    "filters": "pairs: 32, preconditioner: {type: none}",
    "float": "filtered_start: false, inner_precision: float, preconditioner: {type: jacobi}",
    "windows": "pairs: 100, block_size: 16, filtered_start: false, preconditioner: {type: chebyshev}",
    "amg": "preconditioner: {type: amg}",
    "auto": "preconditioner: {type: auto}",
}
SYSTEMS = {"plain": "preconditioner: {type: none}", "float": "inner_precision: float, preconditioner: {type: jacobi}"}
MATRIX = f"matrix: {{generate: laplacian3d, size: [{SIDE}, {SIDE + 1}, {SIDE + 2}]}}\noutput: {{file: result.h5}}\n"


def eigen_config(keys):
    pairs = "" if "pairs:" in keys else "pairs: 24, "
    return MATRIX + (
        f"eigensolver: {{{pairs}tolerance: 0, dense_up_to: 0, verify: residuals, max_iterations: 1000000, {keys}}}\n"
    )


def system_config(keys):
    return MATRIX + (
        f"right_hand_sides: {{random: 64}}\nlinear_solver: {{tolerance: 1e-14, block_size: 4, max_iterations: 100000, {keys}}}\n"
    )


def resident(process):
    """Bytes of memory that a process has; 0 where it is no more."""
    try:
        with open(f"/proc/{process}/statm") as pages:
            return int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


class EarlyEndTest(harness.AppTest):
    def program(self, name):
        return os.path.join(os.path.dirname(harness.options.program), name)

    def start(self, program, config, *arguments):
        self.config(config)
        ranks = harness.options.ranks
        launcher = [] if ranks == 1 else harness.options.mpiexec.split() + [str(ranks)]
        self.output = open(self.path("output"), "w+")
        self.addCleanup(self.output.close)
        before = harness.options.program
        self.addCleanup(setattr, harness.options, "program", before)
        harness.options.program = self.program(program)
        line = launcher + [self.program(program), "run.yaml", *arguments]
        return subprocess.Popen(line, cwd=self.folder, stdout=self.output, stderr=subprocess.STDOUT)

    def said(self):
        with open(self.output.name) as file:
            return file.read()

    def wait_for(self, words):
        deadline = time.monotonic() + 60
        while words not in self.said():
            self.assertLess(time.monotonic(), deadline, self.said())
            time.sleep(0.01)

    def wait_for_memory(self, launcher, size):
        """Until some rank has so many bytes at least."""
        deadline = time.monotonic() + 60
        while max(map(resident, [launcher.pid, *ranks_of(launcher.pid)])) < size:
            self.assertIsNone(launcher.poll(), self.said())
            self.assertLess(time.monotonic(), deadline, self.said())
            time.sleep(0.005)

    def target(self, launcher, rank):
        """The process of a rank, or the launcher itself."""
        if harness.options.ranks == 1 or rank is None:
            return launcher.pid
        return sorted(ranks_of(launcher.pid))[rank]

    def send(self, launcher, number, rank):
        os.kill(self.target(launcher, rank), number)
        began = time.monotonic()
        try:
            code = launcher.wait(timeout=60)
        finally:
            launcher.kill()
        return code, time.monotonic() - began

    def check_pairs(self):
        """What is written holds: residuals of the vectors are those in the file."""
        a = self.matrix()
        with h5py.File(self.path("result.h5")) as file:
            values, norms = file["eigenvalues"][:], file["residual_norms"][:]
            vectors = file["eigenvectors"][:]
            self.assertEqual(vectors.shape[1], len(values))
            self.assertGreater(len(values), 0)
            true = numpy.linalg.norm(a @ vectors - vectors * values, axis=0)
            numpy.testing.assert_allclose(true, norms, rtol=1e-3, atol=1e-13)
            numpy.testing.assert_allclose(vectors.T @ vectors, numpy.eye(len(values)), atol=1e-10)

    def matrix(self):
        one = [harness.laplacian(n) for n in (SIDE, SIDE + 1, SIDE + 2)]
        return harness.scipy.sparse.kronsum(harness.scipy.sparse.kronsum(one[0], one[1]), one[2]).tocsr()

    def check_solutions(self):
        with h5py.File(self.path("result.h5")) as file:
            norms, start = file["residual_norms"][:], file["rhs_norms"][:]
            self.assertTrue(numpy.all(norms <= start * (1 + 1e-12)), "worse than nothing")
            self.assertTrue(numpy.all(numpy.isfinite(file["solution"][:])))

    def ends_early(self, kind, program, config, number, rank, delay):
        """A quick machine may be done by then: the signal comes earlier until it finds the run at work."""
        while not self.is_ended(kind, program, config, number, rank, delay):
            self.assertGreater(delay, 0.02, f"{kind} ended by itself: {self.said()}")
            delay /= 2

    def is_ended(self, kind, program, config, number, rank, delay):
        """False where the run had come to its own end, all of it written, before the signal could matter."""
        if os.path.exists(self.path("result.h5")):
            os.unlink(self.path("result.h5"))
        launcher = self.start(program, config)
        self.wait_for("preconditioner")
        time.sleep(delay)
        try:
            code, seconds = self.send(launcher, number, rank)
        except (ProcessLookupError, IndexError):  # the rank is gone
            code, seconds = launcher.wait(timeout=60), 0.0
        about = f"{kind} {number!r} to {rank} after {delay:.2f} s, ended after {seconds:.1f}: {self.said()}"
        if code == 0:
            self.assertNotIn("ended by", self.said(), about)
            self.check_result(program)
            return False
        self.assertIn(f"ended by {number.name}", self.said(), about)
        if "before there was anything to write" in self.said():
            self.assertEqual(code, 128 + number, about)
            self.assertFalse(os.path.exists(self.path("result.h5")), about)
            return True
        self.assertEqual(code, 4, about)
        self.assertIn("to go on: ", self.said(), about)
        self.assertLess(seconds, 10, about)
        self.assertEqual([n for n in os.listdir(self.folder) if "partial" in n or "probe" in n], [], about)
        self.check_result(program)
        return True

    def check_result(self, program):
        self.check_pairs() if program == "block-eigs" else self.check_solutions()

    def ranks_to_try(self):
        return (None,) if harness.options.ranks == 1 else range(harness.options.ranks)

    def some_signals(self, kind, program, config, seed):
        """Signals take turns: kinds of runs end alike by all of them, which is seen with more tries."""
        draw = random.Random(seed)
        for attempt in range(TRIES):
            number = SIGNALS[(seed + harness.options.ranks + attempt) % len(SIGNALS)]
            # The launcher, or any rank alone.
            rank = draw.choice(list(self.ranks_to_try()))
            self.ends_early(kind, program, config, number, rank, draw.uniform(0.05, 1.5))

    def test_eigensolver(self):
        for seed, (kind, keys) in enumerate(EIGEN.items()):
            with self.subTest(kind):
                self.some_signals(kind, "block-eigs", eigen_config(keys), seed)

    def test_linear_solver(self):
        for seed, (kind, keys) in enumerate(SYSTEMS.items()):
            with self.subTest(kind):
                self.some_signals(kind, "block-solve", system_config(keys), seed)

    def test_launcher_forwards_usr1(self):
        if harness.options.ranks == 1 or "mpirun" not in harness.options.mpiexec:
            self.skipTest("needs Open MPI's mpirun")
        for _ in range(TRIES):
            self.ends_early("plain", "block-eigs", eigen_config(EIGEN["plain"]), signal.SIGUSR1, None, 0.7)

    def test_launcher_is_terminated(self):
        """Open MPI leaves its ranks about a second: the result is the old one or a whole new one, and so is the
        checkpoint, from which the same command goes on."""
        if harness.options.ranks == 1:
            self.skipTest("needs a launcher")
        self.config(eigen_config(EIGEN["plain"]))
        done = self.run_program("run.yaml", "eigensolver.max_iterations=3")
        self.assertEqual(done.code, 4, done)
        draw = random.Random(5)
        at = 0
        for number in (signal.SIGTERM, signal.SIGINT):
            for attempt in range(TRIES):
                launcher = self.start("block-eigs", eigen_config(EIGEN["plain"]), "checkpoint={file: c.h5, every: 0.05}")
                self.wait_for("preconditioner")
                time.sleep(0.5 if TRIES == 1 else draw.uniform(0.0, 1.5))
                code, seconds = self.send(launcher, number, None)
                self.assertNotEqual(code, 0, self.said())
                self.assertLess(seconds, 15, self.said())
                self.check_pairs()
                interrupted.wait_for_ranks(self.path("c.h5"))
                before, at = at, max(interrupted.iterations_in(self.path("c.h5")), 0)
                self.assertGreaterEqual(at, before, "an older state came back")
                if (attempt + 1) % 10 == 0 and at > 0:
                    at = 0
                    os.unlink(self.path("c.h5"))
        if at > 0:
            again = self.run_program("run.yaml", "checkpoint={file: c.h5, every: 0.05}", f"eigensolver.max_iterations={at + 2}")
            self.assertEqual(again.code, 4, again)
            self.assertIn(f"goes on from iteration {at} of", again.stdout)

    def test_result_is_a_start(self):
        self.ends_early("plain", "block-eigs", eigen_config(EIGEN["plain"]), signal.SIGUSR1, 0, 1.0)
        again = self.run_program(
            "run.yaml", "eigensolver.tolerance=1e-6", "eigensolver.initial={file: result.h5, dataset: /eigenvectors}"
        )
        self.assertEqual(again.code, 0, again)

    def test_time_limit(self):
        for program, config in (("block-eigs", eigen_config(EIGEN["plain"])), ("block-solve", system_config(SYSTEMS["plain"]))):
            began = time.monotonic()
            launcher = self.start(program, config, "max_seconds=1.5")
            code = launcher.wait(timeout=60)
            self.assertEqual(code, 4, self.said())
            self.assertIn("max_seconds = 1.5 reached; to go on: ", self.said())
            self.assertGreater(time.monotonic() - began, 1.4)
            self.assertLess(time.monotonic() - began, 15)
            self.check_result(program)

    def test_time_limit_that_is_over_at_once(self):
        """It is a limit of the iterations: one is made, so that there is something to write."""
        result = self.run_program(self.config(eigen_config(EIGEN["plain"])), "max_seconds=1e-6")
        self.assertEqual(result.code, 4, result)
        self.check_pairs()

    def test_time_limit_that_is_no_limit(self):
        result = self.run_program(self.config(eigen_config("preconditioner: {type: amg}").replace("tolerance: 0", "tolerance: 1e-4")), "max_seconds=1e300")
        self.assertEqual(result.code, 0, result)
        refused = self.run_program("run.yaml", "max_seconds=0")
        self.assert_one_error(refused, 2, "max_seconds")

    def assert_one_error(self, result, code, word):
        self.assertEqual(result.code, code, result)
        self.assertEqual(len(result.errors()), 1, result)
        self.assertIn(word, result.errors()[0], result)

    def test_before_the_solve(self):
        """Reading and setting up: one message, no file, 128 + the number of the signal."""
        slow = "matrix: {generate: laplacian3d, size: [200, 200, 200]}\noutput: {file: result.h5}\n"
        for number in SIGNALS:
            launcher = self.start("block-eigs", slow)
            self.wait_for_memory(launcher, 150_000_000)  # of a rank: a part of its matrix
            self.assertNotIn("columns", self.said(), "too quick for this test")
            rank = None if harness.options.ranks == 1 else harness.options.ranks - 1
            code, seconds = self.send(launcher, number, rank)
            self.assertEqual(code, 128 + number, self.said())
            self.assertLess(seconds, 12, self.said())
            self.assertEqual(self.said().count("block-eigs: error: "), 1, self.said())
            self.assertIn(f"ended by {number.name} before there was anything to write", self.said())
            self.assertEqual([n for n in os.listdir(self.folder) if "result" in n], [], self.said())

    def test_second_interrupt(self):
        """Ends at once what one iteration keeps busy."""
        if harness.options.ranks > 1:
            self.skipTest("one process")
        long_filter = eigen_config("pairs: 40, preconditioner: {type: none}").replace(f"[{SIDE}, {SIDE + 1}, {SIDE + 2}]", "[90, 90, 90]")
        launcher = self.start("block-eigs", long_filter)
        self.wait_for("preconditioner")
        time.sleep(2)
        launcher.send_signal(signal.SIGINT)
        time.sleep(0.2)
        code, seconds = self.send(launcher, signal.SIGINT, None)
        self.assertEqual(code, 128 + signal.SIGINT, self.said())
        self.assertLess(seconds, 1)
        self.assertIn("ended by SIGINT for the second time", self.said())


if __name__ == "__main__":
    harness.main()
