"""Under a limit of address space (ulimit -v) a run works, or ends in one message with exit code 3. It never hangs:
OpenBLAS, left to itself, asks for its work buffer again and again when there is no memory for it."""

import os

import harness

MEBIBYTE = 1024  # of ulimit's units
CONFIG = """
matrix: {generate: laplacian3d, size: [24, 24, 24]}
eigensolver: {pairs: 4, tolerance: 1e-4}
right_hand_sides: {random: 4}
output: {file: out.h5}
"""


class MemoryLimitTest(harness.AppTest):
    def setUp(self):
        super().setUp()
        if self.limited("block-eigs", 4096, "--version", ranks=1).code != 0:
            self.skipTest("this build needs much address space (a sanitizer?)")
        self.config(CONFIG)

    def limited(self, program, limit, *arguments, ranks=None, **environment):
        """Runs `program` with `limit` MiB for each of its ranks."""
        ranks = harness.options.ranks if ranks is None else ranks
        path = os.path.join(os.path.dirname(harness.options.program), program)
        launcher = [] if ranks == 1 else harness.options.mpiexec.split() + [str(ranks)]
        shell = f'ulimit -v {limit * MEBIBYTE}; exec "$0" "$@"'
        settings = [f"{name}={value}" for name, value in environment.items()]
        return harness.run_command(launcher + ["env"] + settings + ["bash", "-c", shell, path, *arguments], self.folder)

    def works(self, program, limit, **environment):
        """False where it ends as it should when memory lacks; fails the test where it does neither."""
        result = self.limited(program, limit, "run.yaml", **environment)
        about = f"{program} with {limit} MiB and {environment}: {result}"
        if result.code == 0:
            self.assertEqual(result.errors(), [], about)
            return True
        if "PMIX ERROR" in result.stderr or not harness.mpi_starts(result):
            return False  # MPI itself has no memory to start: it ends, with a code of its own
        self.assertIn(result.code, (2, 3), about)  # foreseen, or not
        self.assertEqual(len(result.errors()), 1, about)
        self.assertIn("ulimit -v", result.errors()[0], about)
        return False

    def sweep(self, program, steps, **environment):
        least, enough = 0, 2048
        while enough - least > 8:
            middle = (least + enough) // 2
            least, enough = (least, middle) if self.works(program, middle, **environment) else (middle, enough)
        # A buffer of OpenBLAS is 128 MiB: the way down leads past all that a run takes, and past its start.
        below = [enough + 16 - 280 * step // steps for step in range(steps)]
        works = [self.works(program, max(limit, 200), **environment) for limit in below]
        self.assertFalse(all(works))

    def test_eigensolver(self):
        self.sweep("block-eigs", 36 if harness.options.ranks == 1 else 12)

    def test_linear_solver(self):
        self.sweep("block-solve", 36 if harness.options.ranks == 1 else 12)

    def test_threads_of_openblas(self):
        self.sweep("block-eigs", 16 if harness.options.ranks == 1 else 8, OPENBLAS_NUM_THREADS=2)

    def test_many_threads_of_ours(self):
        if harness.options.ranks == 1:
            self.sweep("block-solve", 16, OMP_NUM_THREADS=16)


if __name__ == "__main__":
    harness.without_gpus()
    harness.main()
