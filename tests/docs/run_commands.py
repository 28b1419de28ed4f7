"""Runs every block of commands in README and docs/, literally: run_commands.py --build BUILD [--quick] [PAGE...].

A page's blocks run in its order, in a folder that looks like the tree with `build/release` being BUILD: shell blocks each by
itself after `source scripts/environment`, Python blocks in one process, YAML blocks are saved as run.yaml and must pass
`block-eigs --check`. Comments in the pages (blocks.py) say what is left out, and why. Exit code 1 where a block fails.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import blocks

ROOT = pathlib.Path(__file__).resolve().parents[2]
_PACKAGE = ("block_eigs", "eigsh(", "solve(", "read_result", "write_matrix")


class Tree:
    """A folder in which paths of the tree mean what they say, and in which files may be left."""

    def __init__(self, folder, build):
        self.folder = pathlib.Path(folder)
        for one in ROOT.iterdir():
            if one.name not in ("docs", "build", ".git"):
                (self.folder / one.name).symlink_to(one)
        shutil.copytree(ROOT / "docs", self.folder / "docs")  # pictures are drawn there
        (self.folder / "build").mkdir()
        (self.folder / "build" / "release").symlink_to(build)
        (self.folder / "home").mkdir()
        # What else is in BUILD/.. is not for the pages.
        self.environment = {
            **os.environ,
            "HOME": str(self.folder / "home"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "MPLBACKEND": "Agg",
        }


class Page:
    def __init__(self, tree, python, has_package, seconds):
        self.tree, self.python, self.has_package, self.seconds = tree, python, has_package, seconds
        self.session = None

    def run(self, language, code, alone=False):
        """The error, or an empty text."""
        if language == "python":
            return self.in_python(code, alone)
        if language == "yaml":
            (self.tree.folder / "run.yaml").write_text(code)
            code = "block-eigs --check run.yaml"
        return self.shell(["bash", "-c", f"source scripts/environment\nset -eo pipefail\n{code}"])

    def has(self, needed):
        if "/" in needed:
            return (self.tree.folder / needed).exists()
        return subprocess.run([self.python, "-c", f"import {needed}"], capture_output=True, check=False).returncode == 0

    def shell(self, command):
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(
                command,
                cwd=self.tree.folder,
                env=self.tree.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                code = process.wait(self.seconds)
            except subprocess.TimeoutExpired:
                # mpirun ends its ranks, which are in groups of their own.
                for number in (signal.SIGTERM, signal.SIGKILL):
                    with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                        os.killpg(process.pid, number)
                        process.wait(10)
                code = f"none within {self.seconds} s"
            output.seek(0)
            return "" if code == 0 else f"exit code {code}\n" + output.read()[-3000:]

    def in_python(self, code, alone):
        if alone:
            self.close()
        if self.session is None:
            session = [
                "bash",
                "-c",
                'source scripts/environment\nexec "$@"',
                "bash",
                self.python,
                str(ROOT / "tests/docs/session.py"),
            ]
            self.session = subprocess.Popen(
                session,
                cwd=self.tree.folder,
                env=self.tree.environment,
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        print(json.dumps(code), file=self.session.stdin, flush=True)
        answer = self.session.stdout.readline()
        return json.loads(answer) if answer else "the interpreter has ended"

    def close(self):
        if self.session is not None:
            self.session.stdin.close()
            self.session.wait()
            self.session = None


def run_page(path, page, quick):
    """The number of blocks that failed."""
    failed, needs_package = 0, False
    for block in blocks.blocks(path.read_text()):
        whole = "\n".join([code for _, code in block.before] + [block.code])
        needs_package = block.language == "python" and (
            any(name in whole for name in _PACKAGE) or (needs_package and not block.alone)
        )
        reason = block.skipped or ("long" if block.long and quick else "")
        if not reason and block.needs and not page.has(block.needs):
            reason = f"no {block.needs}"
        if not reason and needs_package and not page.has_package:
            reason = "no Python package in this build"
        began, error = time.monotonic(), ""
        if not reason:
            for i, (language, code) in enumerate(block.before + [(block.language, block.code)]):
                error = error or page.run(language, code, block.alone and i == 0)
        failed += bool(error)
        said = f"not run: {reason}" if reason else f"{'FAILED' if error else 'ok'}, {time.monotonic() - began:.1f} s"
        print(f"{os.path.relpath(path, ROOT)}:{block.line}: {block.language}: {said}", flush=True)
        if error:
            print(error)
    page.close()
    return failed


def python_of(build):
    """The interpreter of the package's tests, if it has been installed for these; else this one, and whether it has the package."""
    venv = build.parent / f"python-{build.name}-venv/bin/python"
    for python in (str(venv), sys.executable):
        if (
            shutil.which(python)
            and subprocess.run(
                [python, "-c", "import block_eigs"], cwd="/", capture_output=True, check=False
            ).returncode
            == 0
        ):
            return python, True
    return sys.executable, False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=float, default=600, help="that a block may take")
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    build = options.build.resolve()
    if (build / "python/block_eigs").is_dir():
        os.environ["PYTHONPATH"] = str(build / "python")
    python, has_package = python_of(build)
    if subprocess.run([python, "-c", "import h5py, scipy"], capture_output=True, check=False).returncode != 0:
        print("skipped: the pages' Python needs SciPy and h5py")
        return 77
    pages = [page.resolve() for page in options.pages] or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    failed = 0
    for path in pages:
        with tempfile.TemporaryDirectory() as folder:
            failed += run_page(path, Page(Tree(folder, build), python, has_package, options.seconds), options.quick)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
