"""The same ranks, threads and seed give the same bits from run to run; another seed or number of ranks gives the same
answer to the tolerance."""

import os

import harness
import h5py
import numpy as np

EIGEN = """
matrix: {{generate: schroedinger3d, size: [11, 10, 9]}}
eigensolver: {{pairs: {pairs}, tolerance: 1.0e-8, max_iterations: 2000, {more}}}
output: {{file: {file}}}
"""
SOLVE = """
matrix: {{generate: schroedinger3d, size: [11, 10, 9]}}
right_hand_sides: {{random: 5}}
linear_solver: {{tolerance: 1.0e-10, {more}}}
output: {{file: {file}}}
"""
EIGENSOLVERS = {
    "none": (6, "preconditioner: {type: none}"),
    "jacobi": (6, "preconditioner: {type: jacobi}"),
    "chebyshev": (6, "preconditioner: {type: chebyshev}"),
    "amg": (6, "preconditioner: {type: amg}"),
    "float": (6, "inner_precision: float, preconditioner: {type: chebyshev}"),
    "windows": (24, "block_size: 10, preconditioner: {type: chebyshev}"),
    "dense": (240, "preconditioner: {type: none}"),
}
LINEAR_SOLVERS = {
    "auto": "",
    "none": "preconditioner: {type: none}",
    "jacobi": "block_size: 2, preconditioner: {type: jacobi}",
    "float": "inner_precision: float, preconditioner: {type: chebyshev}",
    "amg": "preconditioner: {type: amg}",
}


class RepeatableTest(harness.AppTest):
    def results(self, program, text, names, ranks=None):
        """What a run with two threads a rank writes."""
        path = os.path.join(os.path.dirname(harness.options.program), program)
        launcher = harness.command([], ranks)[:-1]
        config = self.config(text)
        result = harness.run_command(launcher + ["env", "OMP_NUM_THREADS=2", path, config], self.folder, timeout=240)
        self.assertEqual(result.code, 0, result)
        with h5py.File(self.path("result.h5")) as file:
            return {name: file[name][()] for name in names}

    def assert_same_bits(self, one, other):
        for name, values in one.items():
            # Bit by bit: NaN is like NaN, and 0 is not like -0.
            self.assertEqual(values.tobytes(), other[name].tobytes(), name)

    def test_eigenpairs(self):
        names = ("eigenvalues", "eigenvectors", "residual_norms", "history/residual_norms")
        for kind, (pairs, more) in EIGENSOLVERS.items():
            with self.subTest(kind=kind):
                text = EIGEN.format(pairs=pairs, more=more, file="result.h5")
                first = self.results("block-eigs", text, names)
                self.assert_same_bits(first, self.results("block-eigs", text, names))
                others = [self.results("block-eigs", text.replace("pairs:", "seed: 7, pairs:"), names)]
                if harness.options.ranks > 1:
                    others.append(self.results("block-eigs", text, names, ranks=1))
                for other in others:
                    # An eigenvalue is off by the square of the residual where it stands alone, at most by the residual.
                    np.testing.assert_allclose(other["eigenvalues"], first["eigenvalues"], rtol=2e-8)

    def test_solutions(self):
        names = ("solution", "residual_norms", "history/residual_norms")
        for kind, more in LINEAR_SOLVERS.items():
            with self.subTest(kind=kind):
                text = SOLVE.format(more=more, file="result.h5")
                first = self.results("block-solve", text, names)
                self.assert_same_bits(first, self.results("block-solve", text, names))
                if harness.options.ranks > 1:
                    other = self.results("block-solve", text, names, ranks=1)["solution"]
                    difference = np.linalg.norm(other - first["solution"]) / np.linalg.norm(other)
                    self.assertLess(difference, 1e-7)


if __name__ == "__main__":
    harness.main()
