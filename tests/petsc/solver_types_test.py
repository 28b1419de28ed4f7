"""Runs programs that know nothing of block-eigs with PETSc's or SLEPc's own solver and with the solver types out of the
plug-ins, and compares what they print.

    python3 solver_types_test.py --ksp libblock_eigs_ksp.so --systems PROGRAM [--slepc libblock_eigs_slepc.so
        --eigenvalues PROGRAM] --ranks 2 --mpiexec "mpirun -n" [--gpu] [unittest options]

--gpu: with our types matrices and vectors are of PETSc's CUDA types; exit code 77 on a machine without a GPU.
"""

import argparse
import glob
import re
import shlex
import subprocess
import sys
import unittest

parser = argparse.ArgumentParser()
parser.add_argument("--ksp", required=True)
parser.add_argument("--systems", required=True)
parser.add_argument("--slepc", default="")
parser.add_argument("--eigenvalues", default="")
parser.add_argument("--ranks", type=int, default=1)
parser.add_argument("--mpiexec", default="mpirun -n")
parser.add_argument("--gpu", action="store_true")
options, rest = parser.parse_known_args()
if options.gpu and not glob.glob("/dev/nvidia[0-9]*"):
    print("skipped: this machine has no GPU")
    sys.exit(77)
ON_GPU = "-mat_type aijcusparse -dense_type densecuda"


def run(program, arguments):
    launcher = shlex.split(options.mpiexec) + [str(options.ranks)] if options.ranks > 1 else []
    return subprocess.run(launcher + [program] + shlex.split(arguments), capture_output=True, text=True, timeout=120)


def numbers(text, word):
    return [float(number) for number in re.findall(rf"^{word} (\S+)$", text, re.MULTILINE)]


class SolverTypesTest(unittest.TestCase):
    def output(self, program, arguments):
        done = run(program, arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def refused(self, program, arguments, words):
        done = run(program, arguments)
        self.assertNotEqual(done.returncode, 0)
        text = done.stdout + done.stderr
        self.assertIn(words, text)
        self.assertNotIn("Segmentation", text)

    def assert_close(self, found, expected, relative):
        self.assertEqual(len(found), len(expected))
        self.assertGreater(len(expected), 0)
        for one, other in zip(found, expected):
            self.assertLessEqual(abs(one - other), relative * abs(other))

    # KSP type blockcg: KSPSolve for one side, KSPMatSolve for five.
    def solve(self, arguments, words=()):
        load = f"-dll_append {options.ksp} -ksp_type blockcg -ksp_rtol 1e-10 -ksp_view -ksp_converged_reason"
        if options.gpu:
            load += f" {ON_GPU}"
            words = (*words, "device: NVIDIA")
        ours = self.output(options.systems, f"{load} {arguments}")
        theirs = self.output(options.systems, "-ksp_type cg -pc_type jacobi -ksp_rtol 1e-12")
        self.assert_close(numbers(ours, "solution"), numbers(theirs, "solution"), 1e-8)
        self.assertEqual(len(numbers(ours, "solution")), 2)
        for residual in numbers(ours, "residual"):
            self.assertLess(residual, 1e-7)
        self.assertIn("type: blockcg", ours)
        for word in words:
            self.assertIn(word, ours)
        return ours

    def test_ksp_with_right_hand_sides_within_abstol(self):
        line = f"-dll_append {options.ksp} -ksp_type blockcg -ksp_atol 1e10 -ksp_converged_reason"
        ours = self.output(options.systems, line + (f" {ON_GPU}" if options.gpu else ""))
        self.assertIn("CONVERGED_ATOL iterations 0", ours)

    def test_ksp_with_a_preconditioner_of_ours(self):
        self.solve("", ["chosen by block-eigs", "CONVERGED_RTOL"])

    def test_ksp_with_the_programs_preconditioner(self):
        found = self.solve("-pc_type bjacobi -sub_pc_type icc", ["type: bjacobi"])
        self.assertNotIn("chosen by block-eigs", found)

    def test_ksp_with_multigrid_of_the_program(self):
        self.solve("-pc_type gamg", ["type: gamg"])

    def test_ksp_with_a_key_of_the_config(self):
        self.solve("-ksp_blockcg_options linear_solver.preconditioner.type=jacobi", ["preconditioner.type=jacobi"])

    def test_preconditioners_are_at_work(self):
        steps = {name: numbers(self.solve(f"-pc_type {name}"), "steps")[0] for name in ("none", "gamg")}
        self.assertLess(2 * steps["gamg"], steps["none"])

    def test_what_was_made_is_used_again_while_the_matrix_stays(self):
        for choice in ("", "-ksp_blockcg_options linear_solver.preconditioner.type=amg",
                       "-ksp_blockcg_options linear_solver.preconditioner.type=amg,linear_solver.inner_precision=float"):
            text = self.output(options.systems, f"-dll_append {options.ksp} -ksp_type blockcg -ksp_rtol 1e-10 -again 2 "
                               f"-ksp_view {choice}")
            self.assertEqual(text.count("as it was made before"), 2, text)
            norms = numbers(text, "solution")
            self.assertEqual(len(norms), 5)
            self.assert_close(norms[1:4], [norms[0], norms[0], 0.5 * norms[0]], 1e-12 if not choice else 1e-8)
            for residual in numbers(text, "residual"):
                self.assertLess(residual, 1e-7)

    def test_the_programs_preconditioner_when_the_matrix_changes(self):
        text = self.output(options.systems, f"-dll_append {options.ksp} -ksp_type blockcg -ksp_rtol 1e-10 -again 1 -pc_type jacobi")
        norms = numbers(text, "solution")
        self.assert_close(norms[1:3], [norms[0], 0.5 * norms[0]], 1e-8)

    def stretched(self, arguments):
        """Steps before and after the matrix has become another one, twice; solutions are those of PETSc's CG."""
        load = f"-dll_append {options.ksp} -ksp_type blockcg -ksp_rtol 1e-10 -ksp_view -stretch 30" + (f" {ON_GPU}" if options.gpu else "")
        text = self.output(options.systems, f"{load} {arguments}")
        theirs = self.output(options.systems, "-ksp_type cg -pc_type jacobi -ksp_rtol 1e-13 -stretch 30 -ksp_max_it 20000")
        self.assert_close(numbers(text, "solution"), numbers(theirs, "solution"), 1e-7)
        self.assertEqual(len(numbers(text, "solution")), 4)
        return numbers(text, "steps"), text

    def test_a_preconditioner_is_kept_when_the_program_wants_that(self):
        jacobi = "-ksp_blockcg_options linear_solver.preconditioner.type=jacobi"
        fresh, text = self.stretched(jacobi)
        self.assertNotIn("matrix of before", text)
        kept, text = self.stretched(f"{jacobi} -ksp_reuse_preconditioner")
        self.assertIn("jacobi, as it was made of the matrix of before", text)
        self.assertEqual(kept[0], fresh[0])
        # The diagonal that was divided by is not that of D A D.
        self.assertGreater(kept[1], 2 * fresh[1])
        self.assertEqual(kept[2], kept[1])

    def test_the_programs_preconditioner_is_kept_when_it_wants_that(self):
        fresh, _ = self.stretched("-pc_type jacobi")
        kept, _ = self.stretched("-pc_type jacobi -ksp_reuse_preconditioner")
        self.assertGreater(kept[1], 2 * fresh[1])

    def test_multigrid_is_kept_through_one_change_after_another(self):
        amg = "-ksp_blockcg_options linear_solver.preconditioner.type=amg"
        text = self.output(options.systems, f"-dll_append {options.ksp} -ksp_type blockcg -ksp_rtol 1e-10 -n 60 -again 1 -stretch 1 "
                           f"-ksp_view -ksp_reuse_preconditioner {amg}" + (f" {ON_GPU}" if options.gpu else ""))
        norms, steps = numbers(text, "solution"), numbers(text, "steps")
        theirs = self.output(options.systems, "-ksp_type cg -pc_type jacobi -ksp_rtol 1e-13 -n 60 -again 1 -stretch 1")
        self.assert_close(norms, numbers(theirs, "solution"), 1e-7)
        self.assertEqual(len(norms), 6)
        self.assertEqual(steps[2], steps[0])  # of 2 A with the preconditioner of A
        self.assertIn("as it was made of the matrix of before", text)
        for residual in numbers(text, "residual"):
            self.assertLess(residual, 1e-6)

    def test_iterations_in_float_take_the_matrix_as_it_is(self):
        kept, text = self.stretched("-ksp_reuse_preconditioner -ksp_blockcg_options "
                                    "linear_solver.preconditioner.type=jacobi,linear_solver.inner_precision=float")
        self.assertNotIn("matrix of before", text)

    def test_vectors_stay_where_they_are(self):
        text = self.solve("-ksp_blockcg_options linear_solver.preconditioner.type=jacobi")
        self.assertIn("right-hand side is on the " + ("GPU alone" if options.gpu else "host"), text)

    def test_a_first_guess(self):
        self.solve("-ksp_initial_guess_nonzero")

    def test_vectors_on_the_gpu_and_a_solve_on_the_host(self):
        if not options.gpu:
            self.skipTest("without a GPU")
        load = f"-dll_append {options.ksp} -ksp_type blockcg -ksp_rtol 1e-10 -ksp_view {ON_GPU} -ksp_blockcg_options device=host"
        theirs = self.output(options.systems, "-ksp_type cg -pc_type jacobi -ksp_rtol 1e-12")
        for preconditioner in ("", "-pc_type jacobi"):
            ours = self.output(options.systems, f"{load} {preconditioner}")
            self.assertIn("device: host", ours)
            self.assert_close(numbers(ours, "solution"), numbers(theirs, "solution"), 1e-8)

    def test_a_solve_on_the_gpu_of_vectors_on_the_host(self):
        if not options.gpu:
            self.skipTest("without a GPU")
        load = f"-dll_append {options.ksp} -ksp_type blockcg -ksp_rtol 1e-10 -ksp_view -ksp_blockcg_options device=cuda"
        theirs = self.output(options.systems, "-ksp_type cg -pc_type jacobi -ksp_rtol 1e-12")
        for preconditioner in ("", "-pc_type jacobi", "-mat_type aijcusparse"):
            ours = self.output(options.systems, f"{load} {preconditioner}")
            self.assertIn("device: NVIDIA", ours)
            self.assert_close(numbers(ours, "solution"), numbers(theirs, "solution"), 1e-8)

    def test_a_solve_that_failed_is_followed_by_a_fresh_one(self):
        text = self.output(options.systems, f"-dll_append {options.ksp} -ksp_type blockcg -ksp_max_it 3 -again 1 -ksp_view "
                           "-ksp_blockcg_options linear_solver.preconditioner.type=jacobi")
        self.assertNotIn("as it was made before", text)

    def test_ksp_that_does_not_converge_says_so(self):
        text = self.output(options.systems, f"-dll_append {options.ksp} -ksp_type blockcg -pc_type none -ksp_max_it 3 "
                           "-ksp_converged_reason")
        self.assertEqual(text.count("DIVERGED_ITS"), 2, text)

    def test_monitor_is_told(self):
        text = self.output(options.systems, f"-dll_append {options.ksp} -ksp_type blockcg -pc_type none -ksp_monitor")
        self.assertGreater(text.count("KSP Residual norm"), 10)

    def test_ksp_refuses_another_convergence_test(self):
        self.refused(options.systems, f"-dll_append {options.ksp} -ksp_type blockcg -ksp_convergence_test skip",
                     "default convergence test")

    def test_ksp_refuses_keys_that_are_none(self):
        self.refused(options.systems, f"-dll_append {options.ksp} -ksp_type blockcg -ksp_blockcg_options no.such=key",
                     "unknown key")

    def test_types_come_out_of_the_plug_ins(self):
        self.refused(options.systems, "-ksp_type blockcg", "blockcg")

    # EPS type blockeigs.
    def eigenvalues(self, ours, theirs="", words=()):
        if not options.eigenvalues:
            self.skipTest("built without SLEPc")
        load = f"-dll_append {options.slepc} -eps_type blockeigs -eps_nev 5 -eps_tol 1e-9 -eps_view"
        if options.gpu:
            load += " -mat_type aijcusparse"
            words = (*words, "device: NVIDIA")
        found = self.output(options.eigenvalues, f"{load} {ours}")
        expected = self.output(options.eigenvalues, f"-eps_type krylovschur -eps_nev 5 -eps_ncv 40 -eps_tol 1e-10 {theirs}")
        self.assert_close(numbers(found, "eigenvalue")[:5], numbers(expected, "eigenvalue")[:5], 1e-9)
        self.assertIn("type: blockeigs", found)
        for word in words:
            self.assertIn(word, found)

    def test_smallest(self):
        self.eigenvalues("", words=["chosen by block-eigs"])

    def test_beyond_the_size_that_is_solved_densely(self):
        self.eigenvalues("-n 17", "-n 17")

    def test_largest(self):
        self.eigenvalues("-eps_largest_real", "-eps_largest_real")

    def test_the_programs_preconditioner(self):
        self.eigenvalues("-st_pc_type gamg", words=["type: gamg"])

    def test_the_programs_solver_as_preconditioner(self):
        self.eigenvalues("-n 17 -st_ksp_type cg -st_pc_type jacobi -st_ksp_rtol 1e-3", "-n 17", words=["type: jacobi"])

    def test_a_matrix_that_gives_no_rows(self):
        self.eigenvalues("-composite -st_pc_type jacobi", words=["type: jacobi"])

    def test_convergence_tests(self):
        for name in ("rel", "abs", "norm"):
            self.eigenvalues(f"-eps_conv_{name}")

    def test_monitor(self):
        self.eigenvalues("-eps_monitor_all", words=["1 EPS nconv="])

    def test_eps_that_does_not_converge_says_so(self):
        if not options.eigenvalues:
            self.skipTest("built without SLEPc")
        text = self.output(options.eigenvalues, f"-n 17 -dll_append {options.slepc} -eps_type blockeigs -eps_max_it 2 "
                           "-st_pc_type jacobi -eps_nev 3 -eps_converged_reason")
        self.assertIn("DIVERGED_ITS", text)

    def test_eps_refuses(self):
        if not options.eigenvalues:
            self.skipTest("built without SLEPc")
        load = f"-dll_append {options.slepc} -eps_type blockeigs"
        for arguments, words in (
            ("-eps_largest_magnitude", "smallest real or largest real"),
            ("-eps_target 1.0 -eps_target_magnitude", "smallest real or largest real"),
            ("-eps_non_hermitian", "cannot be used for non-symmetric problems"),
            ("-eps_blockeigs_options no.such=key", "unknown key"),
        ):
            self.refused(options.eigenvalues, f"{load} {arguments}", words)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
