"""A rank that dies in the middle of a run takes the others with it, within seconds."""

import os
import signal
import subprocess
import time

import harness


def ranks_of(launcher):
    """Processes of the program that `launcher` has started."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat") as stat:
                parent = int(stat.read().rsplit(")", 1)[1].split()[1])
            if parent == launcher and os.readlink(f"/proc/{entry}/exe") == os.path.realpath(harness.options.program):
                found.append(int(entry))
        except OSError:
            pass
    return found


class KilledRankTest(harness.AppTest):
    def dies(self, how):
        with open(os.path.join(self.folder, "long.yaml"), "w") as config:
            config.write(
                "{matrix: {generate: laplacian3d, size: [128, 128, 128]}, eigensolver: {pairs: 16, tolerance: 1e-15,"
                " filtered_start: false, verify: residuals, max_iterations: 1000000, preconditioner: {type: none}}}"
            )
        with open(os.path.join(self.folder, "output"), "w+") as output:
            launcher = subprocess.Popen(harness.command(["long.yaml"]), cwd=self.folder, stdout=output, stderr=output)
            try:
                deadline = time.monotonic() + 60
                while "smallest pairs" not in open(output.name).read() and time.monotonic() < deadline:
                    time.sleep(0.1)
                time.sleep(1)
                ranks = ranks_of(launcher.pid)
                self.assertEqual(len(ranks), harness.options.ranks, open(output.name).read())
                os.kill(ranks[-1], how)
                began = time.monotonic()
                code = launcher.wait(timeout=60)
            finally:
                launcher.kill()
        # The launcher may be gone a moment before its ranks.
        while any(os.path.exists(f"/proc/{rank}") for rank in ranks) and time.monotonic() < began + 20:
            time.sleep(0.1)
        self.assertNotEqual(code, 0)
        self.assertLess(time.monotonic() - began, 20)

    def test_killed(self):
        self.dies(signal.SIGKILL)

    def test_crashed(self):
        self.dies(signal.SIGSEGV)


if __name__ == "__main__":
    harness.main()
