"""Runs block-eigs and block-solve for the tests that look at their results.

The programs are looked for in $BLOCK_EIGS_PROGRAMS, in the build folders of the tree and on the PATH; tests that need them
are skipped where there are none."""

import os
import pathlib
import shutil
import subprocess

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]

EIGEN = """matrix: {generate: laplacian2d, size: [30, 20]}
eigensolver: {pairs: 5, tolerance: 1.0e-8, dense_up_to: 0, preconditioner: {type: amg}}
output: {file: result.h5}
"""
LINEAR = """matrix: {generate: laplacian2d, size: [30, 20]}
right_hand_sides: {random: 4}
linear_solver: {tolerance: 1.0e-9, preconditioner: {type: jacobi}}
output: {file: result.h5}
"""


def find(name):
    # The current folder is the build folder where scripts/test-python runs these tests.
    folders = [os.environ.get("BLOCK_EIGS_PROGRAMS"), os.getcwd()] + [
        str(TREE / "build" / kind) for kind in ("release", "host", "host-release", "cuda-release")
    ]
    found = shutil.which(
        name, path=os.pathsep.join([folder for folder in folders if folder] + [os.environ.get("PATH", "")])
    )
    return found or pytest.skip(f"no {name} was built")


def run(name, folder, config, *overrides, code=0):
    """Runs the program on one rank in `folder`, with `config` as run.yaml. Returns its output."""
    (folder / "run.yaml").write_text(config)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [find(name), "run.yaml", *overrides], cwd=folder, env=environment, text=True, timeout=300, capture_output=True
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr
