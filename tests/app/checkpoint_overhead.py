"""Seconds that iterations stand still for a checkpoint, by the times of the iterations in the result: those in which one
was begun or put in its place, beyond the median of the others. The run is long enough for several of them."""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import h5py

parser = argparse.ArgumentParser()
parser.add_argument("--program", required=True)
parser.add_argument("--folder", default="/tmp")
parser.add_argument("--side", type=int, default=215)
parser.add_argument("--columns", type=int, default=6)
parser.add_argument("--iterations", type=int, default=40)
parser.add_argument("--every", type=float, default=30.0)
INTERVAL = 600.0  # seconds, the default of checkpoint.every
options = parser.parse_args()
options.program = os.path.abspath(options.program)


def run(folder, *more):
    """Seconds of each iteration but the first, from the end of one to the end of the next, and how many states were
    put in their place while they went on."""
    result, states, before = os.path.join(folder, "result.h5"), 0, None
    side = options.side
    with open(os.path.join(folder, "run.yaml"), "w") as config:
        config.write(
            f"{{matrix: {{generate: laplacian3d, size: [{side}, {side}, {side}]}}, output: {{file: result.h5, eigenvectors:"
            f" false}}, eigensolver: {{pairs: {max(options.columns - 2, 1)}, block_size: {options.columns}, filtered_start:"
            f" false, verify: residuals, max_iterations: {options.iterations}, preconditioner: {{type: jacobi}}}}}}"
        )
    process = subprocess.Popen([options.program, "run.yaml", *more], cwd=folder, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        try:
            now = os.stat(os.path.join(folder, "c.h5")).st_ino
        except FileNotFoundError:
            now = None
        states += now is not None and now != before
        before = now
        time.sleep(0.02)
    if process.returncode != 4:
        sys.exit(f"exit code {process.returncode}")
    with h5py.File(result) as file:
        seconds = list(file["history/seconds"][()])
    return [after - before for before, after in zip(seconds, seconds[1:])], states


with tempfile.TemporaryDirectory(dir=options.folder) as folder:
    plain, _ = run(folder)
    # The state at the end is not one of those.
    saved, states = run(folder, f"checkpoint={{file: c.h5, every: {options.every}}}")
    size = os.path.getsize(os.path.join(folder, "c.h5"))
states = max(states - 1, 1)
print(f"{options.side}^3 rows, {options.columns} columns, {1e-9 * size:.2f} GB a checkpoint, {states} of them on the way")
print(f"seconds an iteration: {statistics.median(plain):.3f} without, {statistics.median(saved):.3f} with; longest"
      f" {max(plain):.3f} and {max(saved):.3f}")
# What slows all iterations while a thread writes counts as well.
lost = (sum(saved) - sum(plain)) / states
print(f"seconds lost for each: {lost:.2f}, {100.0 * lost / INTERVAL:.2f} % of {INTERVAL:.0f} s")
