"""Where nothing can be written to shared memory (some containers, chroots) a result is written all the same."""

import os
import shutil
import subprocess
import sys
import tempfile

import harness
import h5py

UNSHARE = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
READ_ONLY = "mount -t tmpfs -o ro none /dev/shm"


def works():
    return shutil.which("unshare") and subprocess.run([*UNSHARE, "sh", "-c", READ_ONLY], capture_output=True).returncode == 0


if not works():
    print("skipped: this user may not mount anything over /dev/shm")
    sys.exit(harness.SKIPPED)


class NoSharedMemoryTest(harness.AppTest):
    def check(self, **environment):
        config = self.config("matrix: {generate: laplacian1d, size: [500]}\neigensolver: {pairs: 3}\noutput: {file: result.h5}\n")
        line = [*UNSHARE, "sh", "-c", READ_ONLY + ' && exec "$@"', "sh", *harness.command([config])]
        result = harness.run_command(line, self.folder, env={**os.environ, **environment})
        self.assertEqual(result.code, 0, result)
        self.assertEqual(sorted(os.listdir(self.folder)), ["result.h5", "run.yaml"])
        with h5py.File(self.path("result.h5")) as file:
            self.assertEqual(file["eigenvectors"].shape, (500, 3))

    def test_the_folder_for_temporary_files_will_do(self):
        self.check()

    def test_the_folder_of_the_result_will_do(self):
        self.check(TMPDIR="/proc", OMPI_MCA_orte_tmpdir_base=tempfile.gettempdir())  # Open MPI must have one


if __name__ == "__main__":
    harness.main()
