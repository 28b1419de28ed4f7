"""Faults that have been found to matter, and a few of each kind beside them: the bounded part of scripts/faults. Calls are
named by their place among all of the function, "first", "last" or a part of the way, so that they stay what they are
when others come before them."""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import h5py
    import numpy as np
    import settings
    import trial
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

options = argparse.Namespace()

# Before the ranks can tell each other of errors, while the command line is read, in the run.
MEMORY = ["malloc:program:first:ENOMEM", "malloc:program:0.02:ENOMEM", "malloc:program:0.05:ENOMEM", "malloc:program:0.5:ENOMEM",
          "aligned_alloc:program:0.5:ENOMEM", "malloc:libraries:last:ENOMEM"]
# Nothing in them may be other than it was meant; a file that cannot be closed ends in a message, not in a crash.
HDF5 = ["H5Tenum_insert:program:last:fail", "H5Tset_size:program:0.3:fail", "H5Pset_layout:program:last:fail",
        "H5Dget_storage_size:program:first:fail", "H5Fclose:program:last:fail", "H5Dwrite:program:0.5:fail",
        "close:libraries:last:EIO", "pwrite:libraries:0.9+:ENOSPC"]
FILES = ["fstat:program:first:EACCES", "lseek:program:last:EIO", "pread:program:last:end",
         "pwrite:program:0.5+:ENOSPC",
         "fsync:program:last:EIO", "rename:program:last:EACCES", "open:program:0.5:ENOENT"]
# Errors of no communicator, those of the launcher's, and those while a file is being written.
MPI = ["MPI_Comm_dup:program:first:fail", "MPI_Type_free:program:last:fail", "MPI_Waitall:program:last:fail",
       "MPI_Errhandler_free:program:first:fail", "MPI_Bcast:program:last:fail", "MPI_Comm_split_type:program:first:fail"]
READING = [("eigs-hdf5", "H5Dread:program:first:fail"), ("eigs-hdf5", "read:libraries:0.5:EIO"), ("solve-mtx", "read:program:last:EIO"),
           ("solve-hdf5", "H5Aread:program:last:fail"), ("solve-mtx", "malloc:program:0.4:ENOMEM")]
# Files that end while HDF5 reads them, which takes zeros for what is missing.
SHRINKING = [(setting, f"pread:libraries:{place}:end") for setting in ("solve-hdf5", "eigs-hdf5") for place in (0.3, 0.5, 0.7, 0.9, "last")]


# What a run goes on from as if nothing had been.
SURVIVED = ("pread:program:last:EINTR", "flock:program:first:EINTR", "unlink:program:first:EACCES", "pwrite:program:last:short")


def at(place, count):
    """The number of a call: 1 for "first", `count` for "last", between them for a fraction."""
    if place in ("first", "last"):
        return 1 if place == "first" else count
    return max(1, round(float(place) * count))


class FaultsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bench = trial.Bench(options.programs, options.injector, options.mpiexec)
        cls.addClassCleanup(cls.bench.close)

    def survive(self, failing, pairs, code=None):
        counts, found = {}, []
        for setting, fault in pairs:
            where = trial.Where(setting, options.ranks, failing)
            if where not in counts:
                counts[where] = self.bench.counts(where)
            function, caller, place, how = fault.split(":")
            calls = counts[where].get(f"{function}:{caller}", 0)
            if calls > 0:  # other systems call other functions
                lasting = "+" if place.endswith("+") else ""
                found.append((where, f"{function}:{caller}:{at(place.rstrip('+'), calls)}{lasting}:{how}"))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for one in pool.map(lambda each: self.bench.attempt(*each), found):
                with self.subTest(where=one.where, fault=one.fault):
                    self.assertTrue(one.fired, "the fault was not reached")
                    if code is not None:
                        self.assertEqual(one.code, code, one.stderr)
                    self.assertEqual(one.against, [], f"exit code {one.code}, {one.messages}\n{one.stderr}")
        self.assertGreater(len(found), len(pairs) // 2)

    def test_survived(self):
        self.survive("all", [("eigs-npz", fault) for fault in SURVIVED], code=0)

    def test_faults_of_all_ranks(self):
        self.survive("all", [("eigs-npz", fault) for fault in (MEMORY + HDF5 + FILES + MPI if options.ranks == 1 else MPI[:3])])

    def test_reading(self):
        if options.ranks == 1:
            self.survive("all", READING + SHRINKING)

    def test_faults_of_the_last_rank(self):
        if options.ranks > 1:
            chosen = ["malloc:program:first:ENOMEM", "malloc:program:0.5:ENOMEM", "MPI_Waitall:program:last:fail", "pwrite:program:last:EIO"]
            # What ranks see in a file each for itself must not lead them to different places.
            alone = [("solve-hdf5", "H5Sget_simple_extent_npoints:program:0.4:fail"), ("solve-hdf5", "H5Aread:program:last:fail")]
            self.survive("last", [("eigs-npz", fault) for fault in chosen] + alone)

    def test_shared_memory_is_left_clean(self):
        before = trial.shared_memory()
        self.survive("all", [("eigs-npz", fault) for fault in ("H5Fcreate:program:last:fail", "mkostemp:program:last:ENOSPC")])
        self.assertEqual(trial.shared_memory() - before, set())


class FactorsTest(unittest.TestCase):
    CONFIG = """
matrix: {generate: laplacian3d, size: [36, 36, 36]}
eigensolver: {pairs: 8, verify: inertia, tolerance: 1e-6}
output: {file: out.h5}
"""

    def test_when_memory_for_factors_lacks_the_result_is_there(self):
        """The one array of MUMPS that all factors are in is refused, after the pairs have been found."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("run.yaml", self.CONFIG), ("small.yaml", self.CONFIG.replace("36", "6"))):
                with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                    file.write(text)
            if "needs" in self.run_with("", folder, "small.yaml", "--check").stderr:
                self.skipTest("a build without MUMPS")
            for failing in ("all", "last"):
                with self.subTest(failing=failing):
                    self.refuse_factors(folder, failing)

    def refuse_factors(self, folder, failing):
        run = self.run_with("malloc:factors:over10000000:ENOMEM", folder, "run.yaml", failing=failing)
        self.assertEqual(run.returncode, 3, run.stderr)
        said = re.findall("^block-eigs: no certificate: none, inertia failed: (.*)$", run.stderr, re.MULTILINE)
        self.assertEqual(len(said), 1, run.stderr)
        self.assertIn("memory", said[0])
        with h5py.File(os.path.join(folder, "out.h5"), "r") as file:
            self.assertEqual(file.attrs["proof"], "none")
            self.assertIn(said[0], file.attrs["proof_statement"])
            line = 2.0 - 2.0 * np.cos(np.pi * np.arange(1, 37) / 37)
            known = np.sort(np.add.outer(np.add.outer(line, line), line).ravel())[:8]
            np.testing.assert_allclose(file["eigenvalues"][()], known, rtol=1e-6)

    @staticmethod
    def run_with(fault, folder, *arguments, failing="all"):
        launcher = [] if options.ranks == 1 else options.mpiexec.split() + [str(options.ranks)]
        program = [os.path.join(options.programs, "block-eigs"), *arguments]
        given = ["env", f"LD_PRELOAD={options.injector}", f"BLOCK_EIGS_FAULT={fault}", f"BLOCK_EIGS_FAULT_RANK={failing}"]
        return subprocess.run(launcher + given + program, cwd=folder, text=True, capture_output=True, timeout=300, check=False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--injector", required=True)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--mpiexec", default="mpirun -n")
    parsed, rest = parser.parse_known_args()
    vars(options).update(vars(parsed), programs=os.path.dirname(os.path.abspath(parsed.program)), injector=os.path.abspath(parsed.injector))
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)


if __name__ == "__main__":
    main()
