"""Eigenvalues are the same whatever way rows take between GPUs: bit by bit with the same ranks, and to 1e-10 with other
numbers of ranks, on as many GPUs as there are and on one, and on the host."""

import os
import re
import shutil
import subprocess
import sys

import harness
import h5py
import numpy as np

if shutil.which("nvidia-smi") is None:
    print("skipped: this machine has no GPU")
    sys.exit(harness.SKIPPED)

CONFIG = """
matrix: {generate: laplacian3d, size: [40, 36, 32]}
eigensolver: {pairs: 12, tolerance: 1.0e-9, verify: residuals}
output: {file: result.h5, eigenvectors: false}
"""
PRECONDITIONERS = ("jacobi", "amg")


def gpus():
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False).stdout
    return len(listed.splitlines())


class HaloWaysTest(harness.AppTest):
    def eigenvalues(self, preconditioner, ranks, way, visible=None):
        """None where ranks as many as these cannot go that way."""
        environment = dict(os.environ, OMP_NUM_THREADS="2")
        if visible is not None:
            environment["CUDA_VISIBLE_DEVICES"] = visible
        device = "host" if way == "host" else "cuda"
        halo = "auto" if way == "host" else way
        line = ["run.yaml", f"device={device}", f"halo={halo}", f"eigensolver.preconditioner={{type: {preconditioner}}}"]
        result = harness.run(line, self.folder, ranks=ranks, timeout=120, env=environment)
        self.assertEqual(result.code, 0, result)
        taken = re.search(r"^ *halo: (\w+)", result.stdout, re.MULTILINE)
        if ranks > 1 and way in ("peer", "nccl") and (taken is None or taken.group(1) != way):
            return None
        with h5py.File(self.path("result.h5")) as file:
            return file["eigenvalues"][:]

    def test_all_ways(self):
        self.config(CONFIG)
        places = {"all": None} | ({"one": "0"} if gpus() > 1 else {})
        seen = set()
        for preconditioner in PRECONDITIONERS:
            reference = self.eigenvalues(preconditioner, 1, "host")
            for place, visible in places.items():
                for ranks in (1, 2, 3, 4):
                    found = {}
                    for way in ("staged", "peer", "nccl"):
                        values = self.eigenvalues(preconditioner, ranks, way, visible)
                        if values is not None:
                            found[way] = values
                            seen.add(way)
                    error = max(np.max(np.abs(values / reference - 1)) for values in found.values())
                    print(f"{preconditioner}, {place}, {ranks} ranks: {', '.join(found)}; from the host's {error:.1e}")
                    self.assertLess(error, 1e-10)
                    for way, values in found.items():
                        self.assertEqual(values.tobytes(), found["staged"].tobytes(), (way, place, ranks))
        self.assertLessEqual({"staged", "peer"}, seen)


if __name__ == "__main__":
    harness.main()
