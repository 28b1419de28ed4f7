"""A rank that fails in the middle of a solve ends the run on all of them: within seconds, with one message where the
rank can still speak, and with nothing left in shared memory."""

import glob
import os
import time

import harness

SECONDS = 20


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


def left_in_shared_memory(before):
    """What is new and nobody's; a run beside this one may be about to map or to remove what it has."""
    deadline = time.monotonic() + 5
    while True:
        left = set(os.listdir("/dev/shm")) - before - in_use()
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.2)


class FailingRankTest(harness.AppTest):
    def fails(self, how):
        before = set(os.listdir("/dev/shm"))
        result = harness.run([how], self.folder, timeout=60)
        print(f"{how}: exit code {result.code} after {result.seconds:.1f} s, start included")
        self.assertNotEqual(result.code, 0, result)
        self.assertLess(result.seconds, SECONDS, result)
        self.assertEqual(left_in_shared_memory(before), set(), result)
        return result

    def speaks(self, how, words):
        for solver in ("", "-cg"):
            with self.subTest(solver=solver):
                result = self.fails(how + solver)
                self.assertEqual(result.code, 3, result)
                self.assertEqual(len(result.errors()), 1, result)
                self.assertIn(words, result.errors()[0], result)

    def test_exception(self):
        self.speaks("throw", "broken on purpose")

    def test_out_of_memory(self):
        self.speaks("memory", "memory")

    def test_messages_between_devices(self):
        # A message that fails as it is put into a queue, and one that fails behind that. Any rank may be the one that speaks.
        self.speaks("messages", "")
        self.speaks("messages-behind", "")

    def test_killed(self):
        for solver in ("", "-cg"):
            self.fails("kill" + solver)

    def test_crashed(self):
        self.fails("crash")


if __name__ == "__main__":
    harness.main()
