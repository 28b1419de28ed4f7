"""Runs that are killed at some iteration, by what the checkpoint says, and gone on with."""

import os
import re
import signal
import subprocess
import time

import h5py
import harness


def iterations_in(path):
    """Iterations of the state in a checkpoint, those of earlier ways included; -1 where there is none yet."""
    try:
        with h5py.File(path) as file:
            if "finished" in file["numbers"]:
                return 10**9
            earlier = file["numbers/along_earlier"][0] if "along_earlier" in file["numbers"] else 0
            return int(file["numbers/iterations"][0]) + int(earlier)
    except (OSError, KeyError):
        return -1


def kill_all(process):
    """The launcher and its ranks, which are a session of their own."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def killed(line, folder, checkpoint, iteration=None, seconds=None, timeout=120):
    """Starts `line` and kills it with SIGKILL once the checkpoint has come to `iteration`, or after `seconds`.
    Returns whether it was still running."""
    with open(os.path.join(folder, "killed.log"), "w") as log:
        process = subprocess.Popen(line, cwd=folder, stdout=log, stderr=log, start_new_session=True)
        began = time.monotonic()
        while process.poll() is None:
            passed = time.monotonic() - began
            if passed > timeout:
                kill_all(process)
                raise AssertionError(f"hangs: {line}")
            if iteration is not None and iterations_in(checkpoint) >= iteration:
                break
            if seconds is not None and passed >= seconds:
                break
            time.sleep(0.002)
        running = process.poll() is None
        kill_all(process)
    # Ranks may be gone a moment after their launcher, and their lock with them.
    time.sleep(0.05)
    return running


def iterations_of(result):
    return int(re.search(r"^(\d+) iterations;", result.stdout, re.MULTILINE).group(1))


def resumed(arguments, folder, ranks, timeout=120):
    """A run that goes on; again where ranks of a killed one have not given up their lock yet."""
    for _ in range(50):
        result = harness.run(arguments, folder, timeout=timeout, ranks=ranks)
        if "another run is at work" not in result.stderr:
            return result
        time.sleep(0.1)
    return result
