"""Wheels of scripts/package run on other machines: all that goes into one is compiled for x86-64-v3, nothing for the
processor that builds it. Configures and compiles nothing; scripts/test-package --portable looks at the instructions."""

import argparse
import json
import pathlib
import subprocess
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("--source", type=pathlib.Path, required=True)
source = parser.parse_args().source

settings = subprocess.run([source / "scripts/package", "--settings"], stdout=subprocess.PIPE, text=True, check=True)
prefix = "cmake.define."
options = [f"-D{line.removeprefix(prefix)}" for line in settings.stdout.split("\n") if line.startswith(prefix)]
assert options, "scripts/package has no settings"

with tempfile.TemporaryDirectory() as build:
    subprocess.run(["cmake", "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DBLOCK_EIGS_TESTS=OFF", "-DBLOCK_EIGS_BENCH=OFF", *options],
                   stdout=subprocess.DEVNULL, check=True)
    commands = json.loads(pathlib.Path(build, "compile_commands.json").read_text())
rooms = ("spmm", "solver", "io", "apps")
ours = [entry for entry in commands if pathlib.Path(entry["file"]).relative_to(source).parts[0] in rooms]
assert len(ours) > 100, len(ours)
for entry in ours:
    processors = [word for word in entry["command"].split() if word.startswith("-march=")]
    assert processors == ["-march=x86-64-v3"], (entry["file"], processors)
print(f"{len(ours)} sources are compiled for x86-64-v3")
