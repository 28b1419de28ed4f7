"""What runs leave in shared memory."""

import glob
import os
import time


def in_use():
    """Names in shared memory that some process has in its address space: of other runs on this machine."""
    names = set()
    for maps in glob.glob("/proc/[0-9]*/maps"):
        try:
            with open(maps, encoding="utf-8", errors="replace") as lines:
                names.update(os.path.basename(line.split()[5]) for line in lines if " /dev/shm/" in line)
        except OSError:
            pass
    return names


def names():
    return set(os.listdir("/dev/shm"))


def left(before):
    """What is new and nobody's; a run beside this one may be about to map or to remove what it has."""
    deadline = time.monotonic() + 5
    while True:
        new = names() - before - in_use()
        if not new or time.monotonic() > deadline:
            return new
        time.sleep(0.2)
