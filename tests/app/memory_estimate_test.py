"""The memory that a run says it will need, beside the most that it has had (VmHWM, by getrusage)."""

import os
import re

import harness
import h5py
import scipy.sparse

SHARE = 0.2


def membrane(n):
    """Bilinear finite elements on a square: K and M."""
    h = 1.0 / (n + 1)
    k = scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n)) / h
    m = scipy.sparse.diags([1.0, 4.0, 1.0], [-1, 0, 1], shape=(n, n)) * h / 6
    return scipy.sparse.kron(k, m) + scipy.sparse.kron(m, k), scipy.sparse.kron(m, m)


def laplacian3d(side):
    return f"matrix: {{generate: laplacian3d, size: [{side}, {side}, {side}]}}"


class MemoryEstimateTest(harness.AppTest):
    def peak(self, config):
        """Bytes that the process had at most, as the system counts them."""
        code = (
            "import resource, subprocess, sys\n"
            "result = subprocess.run(sys.argv[1:])\n"
            "print('PEAK', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)\n"
            "sys.exit(result.returncode)\n"
        )
        line = ["python3", "-c", code, harness.options.program, self.config(config)]
        result = harness.run_command(line, self.folder, timeout=300)
        self.assertIn(result.code, (0, 4), result)
        return int(re.search(r"^PEAK (\d+)", result.stdout, re.MULTILINE)[1]), result

    def close(self, problem, options, more=True):
        config = f"{problem}\neigensolver: {{{options}}}\noutput: {{file: result.h5, eigenvectors: false}}\n"
        with self.subTest(f"{problem} {options}"):
            measured, result = self.peak(config)
            with h5py.File(self.path("result.h5")) as file:
                predicted = file.attrs["memory_predicted"]
                self.assertAlmostEqual(file.attrs["memory"], measured, delta=0.02 * measured, msg=result)
            self.assertLess(abs(predicted - measured), SHARE * measured, f"{predicted:.3g} for {measured:.3g}: {result}")
            if not more:
                self.assertLess(measured, predicted, result)
        return result

    def test_preconditioners_of_a_mesh(self):
        for type in ("none", "jacobi", "chebyshev", "amg", "auto"):
            self.close(laplacian3d(48), f"pairs: 16, max_iterations: 40, preconditioner: {{type: {type}}}")
        self.close(laplacian3d(48), "pairs: 16, filter: basis, preconditioner: {type: none}")

    def test_large_mesh(self):
        for type in ("jacobi", "auto"):
            self.close(laplacian3d(100), f"pairs: 8, tolerance: 1e-3, max_iterations: 12, preconditioner: {{type: {type}}}")

    def test_blocks_in_float_go_back(self):
        """Before those in double come, whatever libraries make of malloc."""
        self.close(laplacian3d(60), "pairs: 16, tolerance: 1e-4, verify: residuals, preconditioner: {type: amg}", more=False)

    def test_pencil(self):
        k, m = membrane(200)
        self.save(k, "k.npz")
        self.save(m, "m.npz")
        for type in ("auto", "amg", "chebyshev"):
            self.close("matrix: {file: k.npz}\nmass: {file: m.npz}", f"pairs: 16, preconditioner: {{type: {type}}}")

    def test_graphs(self):
        self.close("matrix: {generate: rmat, scale: 16}", "pairs: 8")
        self.close("matrix: {generate: graph_laplacian, scale: 16}", "pairs: 8, max_iterations: 60")

    def test_of_rows_that_stand_alone(self):
        """Nothing is iterated for their pairs."""
        self.close("matrix: {generate: graph_laplacian, scale: 16}", "pairs: 32, block_size: 50")

    def test_what_auto_takes_on_the_way(self):
        """Eigenvalues in clusters: the block is made wider, or factors are made."""
        problem = "matrix: {generate: laplacian2d, size: [300, 100], anisotropy: [1, 100000]}"
        self.assertIn("from here on", self.close(problem, "pairs: 8").stdout)


class MemoryThatLacksTest(harness.AppTest):
    """More than there is is refused before the solve, with what would fit."""

    def refused(self, result, *words):
        self.assertEqual(result.code, 2, result)
        self.assertEqual(len(result.errors()), 1, result)
        for word in ("not enough memory", "would fit") + words:
            self.assertIn(word, result.errors()[0], result)

    def limited(self, mebibytes, *arguments):
        shell = f'ulimit -v {mebibytes * 1024}; exec "$0" "$@"'
        ranks = harness.options.ranks
        launcher = [] if ranks == 1 else harness.options.mpiexec.split() + [str(ranks)]
        result = harness.run_command(launcher + ["bash", "-c", shell, harness.options.program, *arguments], self.folder)
        if not harness.mpi_starts(result):
            self.skipTest("this MPI needs much address space")
        return result

    def test_of_the_machine(self):
        config = self.config("matrix: {generate: laplacian3d, size: [2000, 1000, 1000]}\neigensolver: {pairs: 500}\n")
        for arguments in ((config,), (config, "--check")):
            result = self.run_program(*arguments)
            self.refused(result, "for all ranks of a node", "times as many nodes")
            self.assertLess(result.seconds, 20, "before anything is read")

    def test_of_address_space(self):
        config = self.config(laplacian3d(80) + "\neigensolver: {pairs: 60, preconditioner: {type: jacobi}}\n")
        result = self.limited(1500, config)
        self.refused(result, "ulimit -v", "ranks")
        # Before anything is read only the vectors are known; the advice leaves room for the rest.
        columns = re.search(r"eigensolver\.block_size=\d+", result.errors()[0])
        self.assertIsNotNone(columns, result)
        result = self.limited(1500, config, columns[0], "max_seconds=2")
        self.assertEqual(result.code, 4, result)

    def test_of_work_space(self):
        """Somewhere between all that is wanted and too little, multigrid takes a few columns at a time."""
        config = self.config(laplacian3d(44) + "\neigensolver: {pairs: 24, block_size: 40, tolerance: 1.0e-4,"
                             " verify: residuals, preconditioner: {type: amg}}\n")
        fits, lacks = 4000, 400
        while fits - lacks > 10:
            limit = (fits + lacks) // 2
            result = self.limited(limit, config)
            if "columns at a time" in str(result):
                self.assertEqual(result.code, 0, result)
                return self.works_between(limit, fits, config)
            if result.code == 0:
                fits = limit
            else:
                self.assertIn(result.code, (2, 3), result)
                lacks = limit
        self.fail(f"never with {lacks} MiB nor {fits} MiB")

    def works_between(self, limited, fits, config):
        """No limit leaves a gap in which all that is wanted is taken for possible, and is not."""
        while fits - limited > 5:
            limit = (fits + limited) // 2
            result = self.limited(limit, config)
            self.assertEqual(result.code, 0, result)
            if "columns at a time" in str(result):
                limited = limit
            else:
                fits = limit

    def test_of_linear_systems(self):
        program = harness.options.program
        self.addCleanup(setattr, harness.options, "program", program)
        harness.options.program = os.path.join(os.path.dirname(program), "block-solve")
        config = self.config(laplacian3d(80) + "\nright_hand_sides: {random: 300}\n")
        self.refused(self.limited(1500, config), "ulimit -v", "ranks")


if __name__ == "__main__":
    harness.without_gpus()
    harness.main()
