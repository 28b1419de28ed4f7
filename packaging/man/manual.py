"""Writes the man pages: manual.py --source TREE --version X.Y.Z --output FOLDER block-eigs=PATH block-solve=PATH.

Pages of programs are what these say with --help, block-eigs-config(5) is docs/config.md.
"""

import argparse
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True

import config_page  # noqa: E402
import program_page  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    for one in options.programs:
        name, _, path = one.partition("=")
        said = subprocess.run([path, "--help"], capture_output=True, text=True, check=True).stdout
        (options.output / f"{name}.1").write_text(program_page.page(name, said, options.version))
    manual = (options.source / "docs/config.md").read_text()
    (options.output / "block-eigs-config.5").write_text(config_page.page(manual, options.version))


if __name__ == "__main__":
    main()
