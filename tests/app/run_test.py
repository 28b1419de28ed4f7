"""What happens around the solver: a full disk, a killed rank, progress on a terminal and in a log, --check."""

import os
import pty
import re
import resource
import select
import signal
import subprocess
import time

import harness
import h5py
import numpy as np
import scipy.sparse as sp

#: Some iterations on a problem with a result of 16 MB.
SOME_WORK = ("matrix: {generate: laplacian1d, size: [500000]}\n"
             "eigensolver: {pairs: 4, max_iterations: 2, preconditioner: {type: chebyshev}}\noutput: {file: result.h5}\n")
#: Does not end by itself for a long time.
ENDLESS = ("matrix: {generate: laplacian1d, size: [100000]}\neigensolver: {pairs: 4, max_iterations: 1000000, "
           "preconditioner: {type: none}, tolerance: 0.0, convergence: absolute}\noutput: {file: result.h5}\n")
UNITS = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9}


class DiskFull(harness.AppTest):
    def check(self, result, folder, words):
        self.assertEqual(result.code, 3, result)
        self.assertEqual(len(result.errors()), 1, result)
        self.assertIn("result.h5", result.errors()[0])
        self.assertIn(words, result.errors()[0])
        self.assertEqual(len(re.findall(r"^ +[1-4] +\d\.\d+e", result.stdout, re.MULTILINE)), 4, result)
        self.assertEqual([name for name in os.listdir(folder) if name != "run.yaml"], [])

    def mount(self, size):
        folder = self.path("disk")
        os.mkdir(folder)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True)
        if done.returncode != 0:
            self.skipTest(f"no file system can be mounted here: {done.stderr.decode().strip()}")
        self.addCleanup(subprocess.run, ["umount", folder], check=True)
        return folder

    def test_no_room_for_the_vectors(self):
        disk = self.mount("4m")
        result = self.run_program(self.config(SOME_WORK), "output.file=disk/result.h5", timeout=120)
        self.check(result, disk, "No space left on device")

    def test_no_room_at_all(self):
        disk = self.mount("4k")
        result = self.run_program(self.config(SOME_WORK), "output.file=disk/result.h5", "output.eigenvectors=false",
                                  timeout=120)
        self.check(result, disk, "No space left on device")

    def test_old_result_survives(self):
        disk = self.mount("4m")
        with open(os.path.join(disk, "result.h5"), "w", encoding="ascii") as file:
            file.write("precious")
        result = self.run_program(self.config(SOME_WORK), "output.file=disk/result.h5", timeout=120)
        self.assertEqual(result.code, 3, result)
        self.assertEqual(os.listdir(disk), ["result.h5"])
        with open(os.path.join(disk, "result.h5"), encoding="ascii") as file:
            self.assertEqual(file.read(), "precious")

    def test_file_size_limit(self):
        """Stands for a full disk or a quota where room cannot be set aside in advance."""
        limit = 8 << 20
        result = self.run_program(self.config(SOME_WORK), timeout=120,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.check(result, self.folder, "File too large")


class KilledRank(harness.AppTest):
    def test_job_ends_within_seconds(self):
        if harness.options.ranks == 1:
            self.skipTest("needs several ranks")
        process = subprocess.Popen(harness.command([self.config(ENDLESS)]), cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True)
        time.sleep(6)
        self.assertIsNone(process.poll(), "ended too early")
        ranks = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
        self.assertGreaterEqual(len(ranks), harness.options.ranks)
        os.kill(int(ranks[-1]), signal.SIGKILL)
        try:
            process.communicate(timeout=15)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            self.fail("the job goes on without a rank")
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(os.listdir(self.folder), ["run.yaml"])


class Progress(harness.AppTest):
    LINE = re.compile(r"iteration \d+/\d+: \d/4 pairs, residual \d\.\de[+-]\d+ times its limit")

    def watch(self, seconds, stderr):
        """Starts the endless run with that stderr, and ends it."""
        process = subprocess.Popen(harness.command([self.config(ENDLESS)]), cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=stderr, start_new_session=True)
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGTERM)
        return process

    def test_lines_in_a_log(self):
        with open(self.path("log"), "w+", encoding="utf-8") as log:
            process = self.watch(16, log)
            process.wait(timeout=30)
            log.seek(0)
            text = log.read()
        lines = self.LINE.findall(text)
        self.assertTrue(1 <= len(lines) <= 4, text)
        self.assertNotIn("\r", text)
        self.assertNotIn("\033", text)

    def test_live_line_on_a_terminal(self):
        reader, terminal = pty.openpty()
        process = self.watch(8, terminal)
        os.close(terminal)
        text = ""
        while select.select([reader], [], [], 2)[0]:
            try:
                text += os.read(reader, 65536).decode()
            except OSError:
                break
        process.wait(timeout=30)
        os.close(reader)
        self.assertGreater(len(self.LINE.findall(text)), 5, text)
        self.assertGreater(text.count("\r\033[K"), 5, text)
        *lines, last = text.split("\r\033[K")
        self.assertTrue(all(len(line) < 80 for line in lines), text)
        if harness.options.ranks == 1:
            self.assertIn("ended by SIGTERM", last)

    def test_terminal_is_left_clean(self):
        reader, terminal = pty.openpty()
        result = harness.run([self.config(ENDLESS), "eigensolver.max_iterations=30"], self.folder, stderr=terminal)
        os.close(terminal)
        text = os.read(reader, 1 << 20).decode()
        os.close(reader)
        self.assertEqual(result.code, 4, result)
        self.assertIn("not converged", text.split("\033[K")[-1])


class Check(harness.AppTest):
    def sizes(self, text, pattern):
        found = re.search(pattern, text)
        self.assertIsNotNone(found, text)
        return [float(value) * UNITS[unit] for value, unit in re.findall(r"([\d.]+) ([kMG]?B)\b", found.group(0))]

    def predict_and_measure(self, more, matrix="{generate: laplacian3d, size: [60, 60, 60]}"):
        config = self.config(f"matrix: {matrix}\n{more}\n")
        check = self.run_program("--check", config, timeout=120)
        self.assertEqual(check.code, 0, check)
        self.assertIn("nothing was solved", check.stdout)
        predicted = self.sizes(check.stdout, r"memory that a rank will need: .*")[0]
        result = self.run_program(config, timeout=200)
        self.assertIn(result.code, (0, 4), result)
        peak = self.sizes(result.stdout, r"peak memory of a rank: .*")[0]
        self.assertLess(abs(predicted - peak), 0.2 * peak, f"predicted {predicted:g}, taken {peak:g}\n{check}\n{result}")

    def test_memory_of_a_standard_problem(self):
        """To its end: where iterations are used up auto may take factors, whose memory nobody has foreseen."""
        self.predict_and_measure("eigensolver: {pairs: 16, tolerance: 1.0e-4}")

    def test_memory_with_chebyshev(self):
        self.predict_and_measure("eigensolver: {pairs: 12, max_iterations: 3, preconditioner: {type: chebyshev}}")

    def test_memory_with_mass(self):
        """Of a random graph, whose factors nobody could hold: auto is not to spend minutes on finding their order."""
        self.predict_and_measure("mass: {generate: random_spd, rows: 216000, per_row: 2}\n"
                                 "eigensolver: {pairs: 8, max_iterations: 3}")

    def test_memory_of_a_window(self):
        n = 300000
        line = np.full(n - 1, 1e-3)  # rows that stand alone would be known pairs
        self.save(sp.diags([line, np.r_[np.arange(1.0, 61.0), np.full(n - 60, 1e3)], line], [-1, 0, 1]))
        # By name: a second preconditioner of auto holds the vectors that the first one found.
        self.predict_and_measure("eigensolver: {pairs: 40, block_size: 8, tolerance: 1.0e-6, "
                                 "preconditioner: {type: chebyshev}}\n"
                                 "output: {file: result.h5}", "{file: a.npz}")

    def test_window_that_runs_out_of_iterations(self):
        config = self.config("matrix: {generate: laplacian1d, size: [2000]}\noutput: {file: result.h5}\n"
                             "eigensolver: {pairs: 30, block_size: 5, max_iterations: 3, dense_up_to: 0, "
                             "preconditioner: {type: jacobi}}\n")
        result = self.run_program(config)
        self.assertEqual(result.code, 4, result)
        self.assertIn("30 of 30 pairs not converged (1-30): max_iterations = 3", result.stderr)
        with h5py.File(self.path("result.h5")) as file:
            found = file["eigenvalues"].size
            self.assertTrue(0 < found < 30)
            self.assertEqual(file["eigenvectors"].shape, (2000, found))
            self.assertTrue(np.isfinite(file["eigenvalues"][:]).all())
            self.assertFalse(file["converged"][:].any())

    def test_window_whose_pairs_all_converge_at_once(self):
        """Nothing but random columns is left at work then."""
        config = self.config("matrix: {generate: laplacian1d, size: [2000]}\noutput: {file: result.h5}\n"
                             "eigensolver: {pairs: 30, block_size: 5, dense_up_to: 0}\n")
        for more in ("eigensolver.max_iterations=3", "eigensolver.max_iterations=500"):
            result = self.run_program(config, more)
            self.assertIn(result.code, (0, 4), result)
            self.assertEqual(result.errors(), [], result)

    def test_memory_in_single_precision(self):
        self.predict_and_measure("precision: float\neigensolver: {pairs: 16, max_iterations: 3, "
                                 "preconditioner: {type: amg}}")

    def test_check_finds_what_a_run_would(self):
        result = self.run_program("--check", self.config("matrix: {file: nowhere.h5}\n"))
        self.assert_refused(result, 2, ["nowhere.h5"])
        result = self.run_program("--check", self.config(SOME_WORK), "output.file=no/result.h5")
        self.assert_refused(result, 2, ["no/result.h5"])

    def test_check_solves_nothing(self):
        """Multigrid is set up, for the memory that it takes; the nested iteration is not run."""
        result = self.run_program("--check", self.config("matrix: {generate: laplacian3d, size: [40, 40, 40]}\n"
                                                         "eigensolver: {pairs: 16, preconditioner: {type: amg}}\n"))
        self.assertEqual(result.code, 0, result)
        for phase in ("SpMM", "block algebra", "small dense", "preconditioner"):
            self.assertRegex(result.stdout, rf"(?m)^{phase} +0\.000 s +0\.000 s")
        self.assertRegex(result.stdout, r"(?m)^I/O +(?!0\.000)\d+\.\d{3} s")

    def test_check_prints_the_resolved_config(self):
        result = self.run_program("--check", self.config("matrix: {generate: laplacian1d, size: [100]}\n"))
        self.assertEqual(result.code, 0, result)
        for line in ("generate: laplacian1d", "size: [100]", "pairs: 1", "which: smallest", "tolerance: 1e-08",
                     "block_size: 3", "type: auto", "algorithm: auto", "precision: double", "device: auto"):
            self.assertRegex(result.stdout, rf"(?m)^ *{re.escape(line)}$")
        self.assertEqual(os.listdir(self.folder), ["run.yaml"])


if __name__ == "__main__":
    harness.main()
