"""Runs programs that know nothing of block-eigs twice, with PETSc's own matrix type and with blockcsr out of the
plug-in, and compares what they print.

    python3 programs_test.py --plugin libblock_eigs_petsc.so --systems PROGRAM [--eigenvalues PROGRAM] --ranks 2
        --mpiexec "mpirun -n" [--gpu] [unittest options]

--gpu: with blockcsr vectors are of PETSc's type cuda; exit code 77 on a machine without a GPU.
"""

import argparse
import glob
import re
import shlex
import subprocess
import sys
import unittest

parser = argparse.ArgumentParser()
parser.add_argument("--plugin", required=True)
parser.add_argument("--systems", required=True)
parser.add_argument("--eigenvalues", default="")
parser.add_argument("--ranks", type=int, default=1)
parser.add_argument("--mpiexec", default="mpirun -n")
parser.add_argument("--gpu", action="store_true")
options, rest = parser.parse_known_args()
if options.gpu and not glob.glob("/dev/nvidia[0-9]*"):
    print("skipped: this machine has no GPU")
    sys.exit(77)


def run(program, arguments):
    launcher = shlex.split(options.mpiexec) + [str(options.ranks)] if options.ranks > 1 else []
    return subprocess.run(launcher + [program] + shlex.split(arguments), capture_output=True, text=True, timeout=120)


def numbers(text, word):
    return [float(number) for number in re.findall(rf"^{word} (\S+)$", text, re.MULTILINE)]


class ProgramsTest(unittest.TestCase):
    def both(self, program, arguments):
        """Output with aij and with blockcsr, each seen to be what it says."""
        outputs = []
        ours = f"-dll_append {options.plugin} -mat_type blockcsr" + (" -mat_vec_type cuda" if options.gpu else "")
        for choice in ("-mat_type aij", ours):
            done = run(program, f"{choice} {arguments}")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            outputs.append(done.stdout)
        kind = "seq" if options.ranks == 1 else "mpi"
        self.assertIn(f"matrix of type {kind}aij\n", outputs[0])
        self.assertIn(f"matrix of type {kind}aijblockcsr\n", outputs[1])
        return outputs

    def assert_close(self, found, expected, relative):
        self.assertEqual(len(found), len(expected))
        self.assertGreater(len(expected), 0)
        for one, other in zip(found, expected):
            self.assertLessEqual(abs(one - other), relative * abs(other))

    def solve(self, arguments, tolerance=1e-10):
        aij, ours = self.both(options.systems, f"{arguments} -ksp_rtol {tolerance}")
        self.assert_close(numbers(ours, "solution"), numbers(aij, "solution"), 1e-8)
        self.assertEqual(len(numbers(ours, "solution")), 2)
        # Rounding may move the last step by one.
        self.assertLessEqual(abs(numbers(ours, "steps")[0] - numbers(aij, "steps")[0]), 1)
        for residual in numbers(ours, "residual"):
            self.assertLess(residual, 1e-6)

    def test_cg(self):
        self.solve("-ksp_type cg -pc_type jacobi")

    def test_cg_with_factors_of_the_own_block(self):
        self.solve("-ksp_type cg -pc_type bjacobi -sub_pc_type icc")

    def test_cg_with_multigrid(self):
        self.solve("-ksp_type cg -pc_type gamg -pc_gamg_type agg")

    def test_minres_of_an_indefinite_matrix(self):
        self.solve("-ksp_type minres -pc_type none -shift 0.05")

    def test_gmres(self):
        self.solve("-ksp_type gmres -ksp_gmres_restart 60 -pc_type asm")

    def test_direct_solver_for_all_sides_at_once(self):
        if options.ranks > 1:
            self.skipTest("PETSc's own factors are those of one rank")
        self.solve("-ksp_type preonly -pc_type cholesky")

    def eigenvalues(self, arguments):
        if not options.eigenvalues:
            self.skipTest("built without SLEPc")
        aij, ours = self.both(options.eigenvalues, arguments)
        self.assertGreaterEqual(len(numbers(ours, "eigenvalue")), 4)
        self.assert_close(numbers(ours, "eigenvalue"), numbers(aij, "eigenvalue"), 1e-9)

    def test_lobpcg(self):
        self.eigenvalues("-eps_type lobpcg -eps_nev 4 -eps_tol 1e-8 -st_type precond -st_pc_type jacobi")

    def test_krylov_schur(self):
        self.eigenvalues("-eps_type krylovschur -eps_nev 5 -eps_ncv 40 -eps_tol 1e-8")

    def test_type_comes_out_of_the_plug_in(self):
        done = run(options.systems, "-mat_type blockcsr")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("blockcsr", done.stdout + done.stderr)

    def test_plug_in_needs_no_libpetsc_of_its_own(self):
        needed = subprocess.run(["objdump", "-p", options.plugin], capture_output=True, text=True, check=True).stdout
        self.assertIn("NEEDED", needed)
        self.assertNotIn("petsc", " ".join(re.findall(r"NEEDED\s+(\S+)", needed)))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
