"""What is in a checkpoint, and what becomes of it: states that lack something, other tolerances, right-hand sides that
take turns, iterations and times of several runs, and why a state could not be written."""

import os
import stat
import struct

import harness
import h5py
import interrupted
import numpy as np
import scipy.sparse as sp

GRID = "matrix: {generate: laplacian3d, size: [14, 15, 16]}"
SOLVER = "eigensolver: {pairs: 4, preconditioner: {type: jacobi}, filtered_start: false, dense_up_to: 0}"
WORD = (1 << 64) - 1


def scattered(word):
    """SplitMix64, as docs/formats.md has it of digests."""
    word = (word + 0x9E3779B97F4A7C15) & WORD
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & WORD
    return word ^ (word >> 31)


def digest(text):
    state = scattered(len(text))
    for letter in text.encode():
        state = scattered(state ^ letter)
    return state


class StateTest(harness.AppTest):
    def go(self, *more, program="block-eigs", **extra):
        line = harness.command([self.name, "checkpoint.file=c.h5", "output.file=result.h5", *more])
        place = line.index(harness.options.program)
        line[place] = os.path.join(os.path.dirname(harness.options.program), program)
        return harness.run_command(line, self.folder, **extra)

    def numbers(self, name):
        with h5py.File(self.path("c.h5")) as file:
            return file["numbers/" + name][()]

    def without(self, kind, name):
        """Takes something out of the checkpoint, as one who knows of digests would."""
        with h5py.File(self.path("c.h5"), "r+") as file:
            contents = file.attrs["contents"]
            fewer = contents.replace(f"{kind} {name}\n", "")
            self.assertNotEqual(fewer, contents)
            whole = int(file.attrs["digest"]) - digest("contents\n" + contents) + digest("contents\n" + fewer)
            file.attrs["contents"] = fewer
            file.attrs["digest"] = np.int64(struct.unpack("q", struct.pack("Q", whole & WORD))[0])
            del file[f"{kind}/{name}"]

    def test_lacks_something(self):
        """It is told by name, before anything is computed from what is left."""
        self.name = self.config(f"{{{GRID}, {SOLVER}}}")
        result = self.go("eigensolver.max_iterations=10")
        self.assertEqual(result.code, 4, result)
        with open(self.path("c.h5"), "rb") as file:
            good = file.read()
        for kind, name in (("numbers", "window"), ("numbers", "ritz_values"), ("numbers", "iterations"), ("vectors", "x")):
            with open(self.path("c.h5"), "wb") as file:
                file.write(good)
            self.without(kind, name)
            os.remove(self.path("result.h5"))
            result = self.go()
            self.assertEqual(result.code, 2, result)
            self.assertEqual(len(result.errors()), 1, result)
            self.assertTrue(result.errors()[0].startswith("checkpoint: "), result)
            self.assertIn(name, result.errors()[0], result)
            open(self.path("result.h5"), "w").close()

    def test_larger_tolerance(self):
        """It holds from the next iteration on, not from the next computation of true residuals."""
        self.name = self.config(f"{{{GRID}, right_hand_sides: {{random: 3}}, linear_solver: {{tolerance: 1e-12,"
                                " preconditioner: {type: none}}}")
        solve = "block-solve"
        result = self.go("linear_solver.tolerance=1e-4", program=solve)
        self.assertEqual(result.code, 0, result)
        enough = interrupted.iterations_of(result)
        os.remove(self.path("c.h5"))
        result = self.go(f"linear_solver.max_iterations={enough + 3}", program=solve)
        self.assertEqual(result.code, 4, result)
        result = self.go("linear_solver.tolerance=1e-4", program=solve)
        self.assertEqual(result.code, 0, result)
        self.assertLessEqual(interrupted.iterations_of(result), enough + 5, result)

    def turns(self):
        """Two right-hand sides that take long, and two that do not."""
        n = 3000
        a = sp.csr_matrix(sp.diags([np.full(n - 1, -1.0), np.full(n, 2.0), np.full(n - 1, -1.0)], [-1, 0, 1]))
        self.save(a)
        k = np.arange(1, n + 1)
        easy = [np.sin(np.pi * k * m / (n + 1)) for m in (1, 2)]
        hard = np.random.default_rng(3).standard_normal((2, n))
        with h5py.File(self.path("in.h5"), "w") as file:
            file["sides"] = np.array([*hard, *easy]).T
        self.name = self.config("{matrix: {file: a.npz}, right_hand_sides: {file: in.h5, dataset: sides}, linear_solver:"
                                " {block_size: 2, preconditioner: {type: none}, tolerance: 1e-6}}")

    def test_turns(self):
        """What came to its end after others had used up their iterations is not done again."""
        self.turns()
        result = self.go("linear_solver.max_iterations=40", program="block-solve")
        self.assertEqual(result.code, 4, result)
        spent = interrupted.iterations_of(result)
        self.assertGreater(spent, 40)
        with h5py.File(self.path("result.h5")) as file:
            np.testing.assert_array_equal(file["converged"][()], [False, False, True, True])
            solution = file["solution"][:, 2:]
        self.assertEqual(self.numbers("iterations")[0], spent)
        with h5py.File(self.path("c.h5")) as file:
            np.testing.assert_array_equal(file["vectors/solution"][:, 2:], solution)
        self.assertIn(f"holds iteration {spent};", result.stdout)
        result = self.go("linear_solver.max_iterations=10000", program="block-solve")
        self.assertEqual(result.code, 0, result)
        self.assertIn(f"goes on from iteration {spent} of", result.stdout)

    def test_iterations_of_all_ways(self):
        """What is told of iterations counts the ways that `auto` has left."""
        weights = 10.0 ** (5.0 * np.random.default_rng(1).random(3999))
        diagonal = np.append(weights, 0.0) + np.append(0.0, weights) + 1e-3
        self.save(sp.diags([-weights, diagonal, -weights], [-1, 0, 1]))
        self.name = self.config("{matrix: {file: a.npz}, eigensolver: {pairs: 5, dense_up_to: 0}}")
        line = harness.command([self.name, "checkpoint.file=c.h5", "checkpoint.every=0"])
        for iteration in range(20, 400, 20):
            interrupted.killed(line, self.folder, self.path("c.h5"), iteration=iteration)
            interrupted.wait_for_ranks(self.path("c.h5"))
            with h5py.File(self.path("c.h5")) as file:
                if "finished" in file["numbers"]:
                    self.skipTest("it came to its end before it took another way")
                earlier = int(file["numbers/along_earlier"][0])
                total = int(file["numbers/iterations"][0]) + earlier
            if earlier > 0:
                break
        self.assertGreater(earlier, 0)
        result = interrupted.resumed([self.name, "checkpoint.file=c.h5"], self.folder, None)
        self.assertIn(f"goes on from iteration {total} of", result.stdout)

    def test_times(self):
        """Iterations of the run before are no set-up of the one that goes on, and none of its solve is lost."""
        for program, section, rest in (
            ("block-eigs", "eigensolver", "{pairs: 8, tolerance: 1e-12, filtered_start: false, dense_up_to: 0, preconditioner: {type: none}}"),
            ("block-solve", "linear_solver", "{tolerance: 1e-14, preconditioner: {type: none}}"),
        ):
            grid = "matrix: {generate: laplacian3d, size: [30, 30, 30]}, right_hand_sides: {random: 16}"
            self.name = self.config(f"{{{grid}, {section}: {rest}}}")
            times, reported = [], []
            for limit in (60, 62):
                result = self.go(f"{section}.max_iterations={limit}", program=program)
                self.assertEqual(result.code, 4, result)
                with h5py.File(self.path("result.h5")) as file:
                    times.append((file.attrs["setup_seconds"], file.attrs["solve_seconds"]))
                    reported.append(file["history/seconds"][()])
            (setup, solve), (setup_after, solve_after) = times
            self.assertLess(setup_after - setup, 0.5 * solve, f"{program}: {times}")
            # All that the last state can know of: what comes after it, writing it for one, is the first run's alone.
            first, both = reported
            np.testing.assert_array_equal(both[:60], first, f"{program}: {times}")
            self.assertTrue((np.diff(both) > 0.0).all(), f"{program}: {both}")
            self.assertGreater(solve_after, first[-1] - first[0], f"{program}: {times}, {both}")
            os.remove(self.path("c.h5"))

    def test_reason(self):
        """Of a rank that is not the first: it is told why no state was written."""
        if harness.options.ranks == 1:
            self.skipTest("needs another rank")
        with open(self.path("limited"), "w") as script:
            # Half a block of 44^3 rows is more.
            script.write('#!/bin/sh\nif [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then ulimit -f 16384; fi\nexec "$@"\n')
        os.chmod(self.path("limited"), stat.S_IRWXU)
        self.name = self.config("{matrix: {generate: laplacian3d, size: [44, 44, 44]}, eigensolver: {pairs: 16,"
                                " preconditioner: {type: jacobi}, filtered_start: false}}")
        line = harness.command([self.name, "checkpoint.file=c.h5", "eigensolver.max_iterations=10"])
        line.insert(line.index(harness.options.program), self.path("limited"))
        result = harness.run_command(line, self.folder)
        self.assertEqual(result.code, 4, result)
        self.assertRegex(result.stdout, "checkpoint: not written, .*File too large")
        self.assertFalse(os.path.exists(self.path("c.h5")))


if __name__ == "__main__":
    harness.main()
