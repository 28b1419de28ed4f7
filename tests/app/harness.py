"""Runs the programs as users do and looks at what they see: output, exit code, files left behind.

Every test script takes the program, the number of ranks and the launcher on its command line:
    python3 bad_input_test.py --program build/block-eigs --ranks 3 --mpiexec "mpirun -n" [unittest options]
Exit code 77 means that this machine lacks what the test needs.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SKIPPED = 77

try:
    import h5py  # noqa: F401
    import numpy
    import scipy.sparse
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)

options = argparse.Namespace()


def without_gpus():
    """For what is of the host alone, its memory or a run that takes long enough to be looked at."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""


def mpi_starts(result):
    """Whether MPI found the address space that it wants: some builds of it, with GPUs above all, want more than
    the programs."""
    return "MPI_Init" not in result.stderr


def enough(cases, step=2):
    """Of cases that differ in numbers and not in what ranks do: all of them on one rank, on several, each run of which
    takes as many times as long, every so many and the last."""
    cases = list(cases)
    if options.ranks == 1:
        return cases
    return [case for i, case in enumerate(cases) if i % step == 0 or i + 1 == len(cases)]


def random_turns(rows, rounds, random):
    """A sparse orthogonal matrix: rounds of plane rotations of disjoint random pairs of an even number of rows."""
    turns = scipy.sparse.identity(rows, format="csr")
    for _ in range(rounds):
        i, j = random.permutation(rows).reshape(2, -1)
        angles = random.uniform(0.0, 2.0 * numpy.pi, i.size)
        diagonal = numpy.ones(rows)
        diagonal[i] = diagonal[j] = numpy.cos(angles)
        at = numpy.r_[numpy.arange(rows), i, j], numpy.r_[numpy.arange(rows), j, i]
        turn = scipy.sparse.coo_matrix((numpy.r_[diagonal, numpy.sin(angles), -numpy.sin(angles)], at))
        turns = turn.tocsr() @ turns
    return turns


def parse_command_line():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--mpiexec", default="mpirun -n")
    parser.add_argument("--source", default=os.path.join(os.path.dirname(__file__), "..", ".."))
    parser.add_argument("--matrices", default="")
    parsed, rest = parser.parse_known_args()
    vars(options).update(vars(parsed))
    options.program = os.path.abspath(options.program)
    return rest


def main():
    rest = parse_command_line()
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)


class Run:
    """What came of one run."""

    def __init__(self, code, stdout, stderr, seconds):
        self.code, self.stdout, self.stderr, self.seconds = code, stdout, stderr, seconds

    def errors(self):
        """The error messages of the program, without those of the launcher."""
        return re.findall(r"^block-[a-z]+: error: (.*)$", self.stderr, re.MULTILINE)

    def __str__(self):
        return f"exit code {self.code} after {self.seconds:.1f} s\n--- stdout\n{self.stdout}--- stderr\n{self.stderr}"


def command(arguments, ranks=None):
    ranks = options.ranks if ranks is None else ranks
    launcher = [] if ranks == 1 else options.mpiexec.split() + [str(ranks)]
    return launcher + [options.program] + [str(argument) for argument in arguments]


def run(arguments, folder, timeout=60, ranks=None, **extra):
    """Runs the program in `folder`."""
    return run_command(command(arguments, ranks), folder, timeout, **extra)


def run_command(line, folder, timeout=60, **extra):
    """A run that does not end in time is killed with all its ranks, and fails the test."""
    began = time.monotonic()
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **extra}
    process = subprocess.Popen(line, cwd=folder, text=True, errors="replace", start_new_session=True, **streams)
    try:
        stdout, stderr = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
        raise AssertionError(f"hangs: killed after {timeout} s: {line}\n{stdout}\n{stderr}") from None
    return Run(process.returncode, stdout, stderr, time.monotonic() - began)


class AppTest(unittest.TestCase):
    """A test in a folder of its own."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="block_eigs_app_")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def config(self, text, name="run.yaml"):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def save(self, matrix, name="a.npz"):
        scipy.sparse.save_npz(self.path(name), scipy.sparse.csr_matrix(matrix))
        return name

    def run_program(self, *arguments, **extra):
        return run(arguments, self.folder, **extra)

    def assert_refused(self, result, code, words):
        """One error message that says all of `words`, exit code `code`, and no file that was not there before."""
        self.assertEqual(result.code, code, result)
        self.assertEqual(len(result.errors()), 1, result)
        for word in words:
            self.assertIn(word, result.errors()[0], result)
        self.assertNotIn("Abort", result.stderr, result)
        self.assert_nothing_left(result)

    def assert_nothing_left(self, result, folder=None):
        left = [name for name in os.listdir(folder or self.folder) if "result" in name or "partial" in name or "probe" in name]
        self.assertEqual(left, [], result)


def laplacian(n):
    """1d Laplacian: eigenvalues 2 - 2 cos(pi k / (n + 1))."""
    return scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n), format="csr")
