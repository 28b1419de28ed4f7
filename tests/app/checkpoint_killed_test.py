"""kill -9 of one rank or of all at random moments of runs: what is there afterwards is whole, and the same command comes to the same end.
BLOCK_EIGS_KILLS is how many runs of each kind are (3)."""

import os
import random
import shutil

import harness
import h5py
import interrupted
import numpy as np

KILLS = int(os.environ.get("BLOCK_EIGS_KILLS", "3"))
GRID = "matrix: {generate: laplacian3d, size: [24, 25, 26]}"
EIGEN = GRID + ", eigensolver: {pairs: 6, preconditioner: {type: jacobi}, filtered_start: "
RUNS = {
    "eigs": f"{{{EIGEN}false}}}}",
    "eigs_basis": f"{{{EIGEN}true, filter: basis, tolerance: 1e-10}}}}",
    "solve": f"{{{GRID}, right_hand_sides: {{random: 4}}, linear_solver: {{tolerance: 1e-10, block_size: 2,"
    " preconditioner: {type: jacobi}}}",
}


class KilledTest(harness.AppTest):
    def end(self, name):
        with h5py.File(self.path(name)) as file:
            self.assertTrue(file["converged"][()].all(), name)
            return file["eigenvalues"][()] if "eigenvalues" in file else file["solution"][()]

    def check(self, run):
        program = "block-" + run.split("_")[0]
        chosen = harness.options.program
        harness.options.program = os.path.join(os.path.dirname(chosen), program)
        self.addCleanup(setattr, harness.options, "program", chosen)
        config = self.config(RUNS[run])
        whole = [config, "output.file=result.h5", "checkpoint.file=c.h5", "checkpoint.every=0.02"]
        fresh = self.run_program(*whole)
        self.assertEqual(fresh.code, 0, fresh)
        iterations, values = interrupted.iterations_of(fresh), self.end("result.h5")
        shutil.copy(self.path("result.h5"), self.path("old.h5"))
        os.remove(self.path("c.h5"))
        draw = random.Random(harness.options.ranks)
        kills = running = states = 0
        more = []
        for kill in range(KILLS):
            ranks = draw.randint(1, max(harness.options.ranks, 2))
            # Killed up to three times on the way.
            for _ in range(draw.randint(1, 3)):
                one = draw if draw.random() < 0.5 else None
                before = interrupted.iterations_in(self.path("c.h5"))
                # A run that goes on has less to do, but for its start.
                left = max(1.0 - max(before, 0) / iterations, 0.3)
                seconds = draw.uniform(0.02, 1.05 * left * fresh.seconds)
                running += interrupted.killed(harness.command(whole, ranks), self.folder, self.path("c.h5"),
                                              seconds=seconds, one_rank_of=one)
                interrupted.wait_for_ranks(self.path("c.h5"))
                self.assert_whole(values, iterations)
                self.assertGreaterEqual(interrupted.iterations_in(self.path("c.h5")), before, "an older state came back")
                states += os.path.exists(self.path("c.h5"))
                kills += 1
            result = interrupted.resumed(whole, self.folder, harness.options.ranks)
            self.assertEqual(result.code, 0, f"kill {kill}\n{result}")
            # The first of them may have been killed before anything was written.
            self.assertLessEqual(interrupted.iterations_of(result), iterations + 2 * 3, f"kill {kill}\n{result}")
            more.append(interrupted.iterations_of(result) - iterations)
            np.testing.assert_allclose(self.end("result.h5"), values, rtol=1e-6, atol=1e-7 * np.abs(values).max())
            left = [name for name in os.listdir(self.folder) if name.startswith("c.h5.")]
            self.assertEqual(left, [], result)
            os.remove(self.path("c.h5"))
            shutil.copy(self.path("old.h5"), self.path("result.h5"))
        print(f"{run}: {KILLS} runs killed {kills} times, {running} of them at work, {states} times with a checkpoint"
              f" there; iterations more than without: {min(more)} to {max(more)}", flush=True)

    def assert_whole(self, values, iterations):
        """The old result is there, or a new one that is as good; a checkpoint can be read, if there is one."""
        np.testing.assert_allclose(self.end("result.h5"), values, rtol=1e-6, atol=1e-7 * np.abs(values).max())
        if os.path.exists(self.path("c.h5")):
            with h5py.File(self.path("c.h5")) as file:
                self.assertEqual(file.attrs["format"], "block-eigs checkpoint 3")
                self.assertLessEqual(file["numbers/iterations"][0], iterations + 6)

    def test_block_eigs(self):
        self.check("eigs")

    def test_block_eigs_with_the_basis_of_filters(self):
        self.check("eigs_basis")

    def test_block_solve(self):
        self.check("solve")


if __name__ == "__main__":
    harness.main()
