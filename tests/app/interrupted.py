"""Runs that are killed at some iteration, by what the checkpoint says, and gone on with."""

import fcntl
import os
import re
import signal
import subprocess
import time

import harness
import h5py
from killed_rank_test import ranks_of


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
    """The launcher and its ranks, which may be a group of their own."""
    for rank in ranks_of(process.pid):
        try:
            os.kill(rank, signal.SIGKILL)
        except ProcessLookupError:
            pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def kill_rank(process, draw):
    """One rank alone, or the launcher: the others are the launcher's to end."""
    ranks = sorted(ranks_of(process.pid))
    chosen = draw.choice(ranks) if ranks else process.pid
    os.kill(chosen, signal.SIGKILL)
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        left = subprocess.run(["ps", "-ww", "-o", "pid,ppid,stat,wchan:20,etime,args", "--forest", "-g", str(process.pid)],
                              capture_output=True, text=True).stdout
        kill_all(process)
        raise AssertionError(f"ranks outlive {chosen} of {ranks}, which was killed\n{left}") from None


def killed(line, folder, checkpoint, iteration=None, seconds=None, timeout=120, one_rank_of=None):
    """Starts `line` and kills it with SIGKILL once the checkpoint has come to `iteration`, or after `seconds`; one
    rank of it where `one_rank_of` draws which. Returns whether it was still running."""
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
        if running and one_rank_of is not None:
            kill_rank(process, one_rank_of)
        kill_all(process)
    # Ranks may be gone a moment after their launcher, and their lock with them.
    time.sleep(0.05)
    return running


def wait_for_ranks(checkpoint):
    """Ranks may outlive their launcher for a moment; who has the lock on the checkpoint may write it still."""
    for _ in range(400):
        try:
            with open(checkpoint + ".lock") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
        except FileNotFoundError:
            return
        except BlockingIOError:
            time.sleep(0.05)
    raise AssertionError("ranks outlive their launcher")


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
