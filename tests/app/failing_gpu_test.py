"""A rank that fails in the middle of a solve on GPUs, which the ranks may share, ends the run on all of them: within
seconds, with one message where the rank can still speak, and with nothing left in shared memory. Another rank may wait
for it in a queue of its GPU."""

import shutil
import sys

import failing_rank_test
import harness

if shutil.which("nvidia-smi") is None:
    print("skipped: this machine has no GPU")
    sys.exit(harness.SKIPPED)

# The way that is taken by itself, and rows that are stored into the other's memory whether or not the ranks share a GPU.
WAYS = ("-cuda", "-peer")


class FailingGpuTest(failing_rank_test.FailingRank):
    def speaks_on_gpus(self, how, words):
        for way in WAYS:
            self.speaks(how + way, words)

    def test_exception(self):
        self.speaks_on_gpus("throw", "broken on purpose")

    def test_out_of_memory(self):
        self.speaks_on_gpus("memory", "memory")

    def test_out_of_device_memory(self):
        self.speaks_on_gpus("device-memory", "memory")

    def test_illegal_address(self):
        self.speaks_on_gpus("address", "illegal memory access")

    def test_killed_and_crashed(self):
        for way in WAYS:
            self.fails("kill" + way)
            self.fails("crash" + way)


if __name__ == "__main__":
    harness.main()
