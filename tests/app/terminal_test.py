"""What stands around a run: help by section, quiet, a summary for scripts, a config from standard input, answers to the
words of other programs."""

import json
import os
import pty
import re
import select
import unittest

import harness
import h5py
import numpy as np

GENERATED = "matrix: {generate: laplacian1d, size: [60]}\neigensolver: {pairs: 3}\noutput: {file: result.h5}\n"


class Terminal(harness.AppTest):
    def test_quiet_prints_nothing_and_writes_the_result(self):
        result = self.run_program("--quiet", self.config(GENERATED))
        self.assertEqual((result.code, result.stdout, result.stderr), (0, "", ""), result)
        self.assertTrue(os.path.exists(self.path("result.h5")))

    def test_summary_is_one_line_of_json_with_the_numbers_of_the_result(self):
        result = self.run_program("--json", self.config(GENERATED))
        self.assertEqual((result.code, result.stdout.count("\n"), result.stderr), (0, 1, ""), result)
        summary = json.loads(result.stdout)
        with h5py.File(self.path("result.h5")) as file:
            np.testing.assert_array_equal(summary["eigenvalues"], file["eigenvalues"][()])
        self.assertEqual((summary["exit_code"], summary["pairs"], summary["converged"], summary["rows"]), (0, 3, 3, 60))
        self.assertEqual(summary["ranks"], harness.options.ranks)

    def test_summary_of_what_is_not_done_and_of_errors(self):
        hard = self.config("matrix: {generate: laplacian2d, size: [80, 80]}\n"
                           "eigensolver: {pairs: 3, max_iterations: 2, dense_up_to: 0, preconditioner: {type: none}}\n")
        result = self.run_program("--json", hard)
        self.assertEqual(result.code, 4, result)
        summary = json.loads(result.stdout)
        self.assertEqual((summary["exit_code"], summary["status"][0]), (4, "not_converged"))
        self.assertIn("max_iterations", summary["remark"])
        result = self.run_program("--json", "nowhere.yaml")
        summary = json.loads(result.stdout)
        self.assertEqual((result.code, summary["exit_code"]), (2, 2), result)
        self.assertIn("no such file", summary["error"])

    def test_config_from_standard_input(self):
        with open(self.path("run.yaml"), "w") as file:
            file.write(GENERATED.replace("output: {file: result.h5}\n", ""))
        with open(self.path("run.yaml")) as file:
            result = self.run_program("-", "--json", stdin=file)
        self.assertEqual((result.code, json.loads(result.stdout)["converged"]), (0, 3), result)
        with open(os.devnull) as nothing:
            self.assert_refused(self.run_program("-", "output=", stdin=nothing), 2, ["standard input", "empty"])
        with open(self.path("run.yaml"), "w") as file:
            file.write("matrix: 3\n")
        with open(self.path("run.yaml")) as file:
            self.assertIn("standard input:1", self.run_program("-", stdin=file).errors()[0])

    def test_words_of_other_programs_are_answered(self):
        config = self.config(GENERATED.replace("output: {file: result.h5}\n", ""))
        for override, answer in (("eigensolver.tol=1e-6", "'tolerance'"), ("eigensolver.sigma=0", "'which: smallest'"),
                                 ("eigensolver.which=SM", "shift-invert"), ("eigensolver.which=SA", "'smallest'"),
                                 ("eigensolver.nev=4", "'pairs'"), ("pairs=4", "section 'eigensolver'"),
                                 ("linear_solver.maxiter=4", "'max_iterations'"), ("M={file: b.npz}", "'mass'")):
            self.assert_refused(self.run_program(config, override), 2, [override.split("=")[0], answer])
        for option, answer in ((["--device", "cuda"], "write device=cuda after"), (["-k", "4"], "eigensolver.pairs=4"),
                               (["--tol=1e-3"], "eigensolver.tolerance=1e-3"), (["--nonsense"], "--help")):
            self.assert_refused(self.run_program(config, *option), 2, [answer])

    def known_keys(self, section):
        """What an unknown key of `section` is told."""
        override = "matrix={zzzzzzzzzzzz: 1}" if section == "matrix" else f"{section}.zzzzzzzzzzzz=1".lstrip(".")
        error = self.run_program(self.config(GENERATED), override, ranks=1).errors()[0]
        return [key for key in error.split("known here: ")[1].split(", ") if key]

    def test_help_names_every_key(self):
        help_text = self.run_program("--help").stdout
        for section in ("", "eigensolver", "linear_solver", "right_hand_sides", "spmm", "output"):
            for key in self.known_keys(section):
                self.assertTrue(re.search(rf"\b{key}\b", help_text), f"{section}.{key} is not in the help")

    def test_progress_fits_the_terminal(self):
        """Written over, never wrapped: the longest line between carriage returns is narrower than the terminal."""
        if harness.options.ranks > 1:
            self.skipTest("one rank owns the terminal")
        config = self.config("matrix: {generate: laplacian2d, size: [300, 300]}\n"
                             "eigensolver: {pairs: 3, max_iterations: 60, preconditioner: {type: none}}\n")
        import fcntl
        import struct
        import subprocess
        import termios
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 50, 0, 0))
        process = subprocess.Popen(harness.command([config]), cwd=self.folder, stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        text = b""
        while True:
            ready, _, _ = select.select([master], [], [], 60)
            if not ready:
                break
            try:
                part = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            text += part
        process.wait(timeout=60)
        os.close(master)
        lines = [line for line in re.split(rb"\r\x1b\[K|\r?\n", text) if line.startswith(b"iteration")]
        self.assertTrue(lines, text)
        self.assertLess(max(map(len, lines)), 50, lines)
        self.assertIn(b"/60: ", lines[0])


if __name__ == "__main__":
    harness.without_gpus()
    harness.main()
