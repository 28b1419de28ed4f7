"""Shell completion: its table of keys is what the program knows, no more and no less, and bash makes of it what is meant."""

import os
import re
import subprocess

import harness

CONFIG = "matrix: {generate: laplacian1d, size: [900]}\n"
GENERATORS = "laplacian1d elasticity3d schroedinger3d graph_laplacian rmat random_uniform random_banded random_spd".split()
TYPES = ["auto", "none", "jacobi", "chebyshev", "amg", "direct", "petsc, options: -pc_type icc"]


def completion(shell):
    return os.path.join(os.path.dirname(harness.options.program), "completion", f"block-eigs.{shell}")


def table():
    """Names of values by key."""
    with open(os.path.join(harness.options.source, "packaging/completion/keys"), encoding="utf-8") as file:
        rows = [line.split() for line in file if not line.startswith("#")]
    return {key: names for key, *names in rows}


class KeysTest(harness.AppTest):
    def complaint(self, *overrides):
        answer = self.run_program("--check", self.config(CONFIG), *overrides, ranks=1)
        self.assertEqual(answer.code, 2, answer)
        return answer.errors()[0]

    def known(self, *overrides):
        said = self.complaint(*overrides)
        found = re.search(r"unknown key; known here: (.*)", said)
        self.assertIsNotNone(found, said)
        return set(found[1].split(", "))

    def known_preconditioner(self, solver, names):
        place = f"{solver}.preconditioner"
        return set().union(*(self.known(f"{place}={{type: {name}, nothing_like_it: 1}}") for name in names))

    def below(self, section):
        """First names of keys below a section of the table."""
        return {key[len(section) :].split(".")[0] for key in table() if key.startswith(section)}

    def test_keys(self):
        top = self.known("nothing_like_it=1") | {"max_seconds"}
        self.assertEqual(self.below(""), top)
        matrix = set().union(*(self.known(f"matrix={{generate: {name}, nothing_like_it: 1}}") for name in GENERATORS))
        self.assertEqual(self.below("matrix."), matrix)
        self.assertLessEqual(self.below("mass."), matrix)
        self.assertGreaterEqual(self.below("mass."), self.known("mass.nothing_like_it=1"))
        types = self.known_preconditioner("eigensolver", TYPES)
        for solver in ("eigensolver", "linear_solver"):
            self.assertEqual(self.below(solver + "."), self.known(solver + ".nothing_like_it=1"))
            self.assertEqual(self.below(solver + ".preconditioner."), types)
        self.assertLessEqual(self.known_preconditioner("linear_solver", ["amg"]), types)
        sections = ("right_hand_sides", "spmm", "output", "checkpoint", "eigensolver.initial", "linear_solver.initial")
        solver = "linear_solver.preconditioner"
        blocks = ("eigensolver.constraints", "eigensolver.preconditioner.coordinates", f"{solver}.near_null_space")
        for section in sections + blocks:
            with self.subTest(section=section):
                self.assertEqual(self.below(section + "."), self.known(section + ".nothing_like_it=1"))
        self.assertNotIn("unknown key", self.complaint("max_seconds=[]"))

    def test_names(self):
        compared = 0
        type_of = {"of": "jacobi", "method": "amg", "precision": "amg"}
        for key, names in table().items():
            if not names or names == ["FILE"]:
                continue
            section, _, last = key.rpartition(".")
            overrides = [f"{key}=zz"]
            if section.endswith("preconditioner") and last in type_of:
                overrides.insert(0, f"{section}.type={type_of[last]}")
            if last == "clamped":
                overrides = ["matrix={generate: elasticity3d, size: [1, 1, 1], clamped: zz}"]
            with self.subTest(key=key):
                said = self.complaint(*overrides)
                found = re.search(r"'zz' is none of (.*)", said)
                self.assertEqual(names, found[1].split(", ") if found else ["true", "false"])
                self.assertTrue(found or "expected true or false" in said, said)
                compared += 1
        self.assertGreater(compared, 15)


class ShellTest(harness.AppTest):
    def offered(self, line, breaks=" \t\n\"'><=;|&(:"):
        script = f"""source {completion("bash")}; compopt() {{ :; }}; COMP_WORDBREAKS=$2; COMP_LINE=$1; COMP_POINT=${{#1}}
            _block_eigs; printf '%s\\n' "${{COMPREPLY[@]}}" """
        answer = subprocess.run(
            ["bash", "-c", script, "bash", line, breaks], cwd=self.folder, capture_output=True, text=True, check=True
        )
        self.assertEqual(answer.stderr, "")
        return answer.stdout.split()

    def test_bash(self):
        for name in ("run.yaml", "other.yml", "matrix.npz"):
            self.config("", name)
        os.mkdir(self.path("folder"))
        self.assertEqual(sorted(self.offered("block-eigs ")), ["folder", "other.yml", "run.yaml"])
        self.assertEqual(self.offered("block-eigs --quiet r"), ["run.yaml"])
        self.assertEqual(set(self.offered("block-solve run.yaml ")), {key + "=" for key in table()})
        self.assertEqual(self.offered("block-eigs run.yaml eigensolver.ver"), ["eigensolver.verify="])
        self.assertEqual(self.offered("block-eigs run.yaml device="), ["auto", "host", "cuda"])
        self.assertEqual(self.offered("block-eigs - halo=p"), ["peer"])
        self.assertEqual(self.offered("block-eigs run.yaml eigensolver.verify=p", " \t\n"), ["eigensolver.verify=probe"])
        self.assertEqual(self.offered("block-eigs run.yaml matrix.file=m"), ["matrix.npz"])
        self.assertEqual(self.offered("block-eigs run.yaml eigensolver.pairs="), [])

    def test_options_of_help(self):
        options = set(re.findall(r"^  (?:-\w,)?--(\w+)", self.run_program("--help", ranks=1).stdout, re.MULTILINE))
        self.assertGreaterEqual(len(options), 5)
        self.assertEqual({option.lstrip("-") for option in self.offered("block-eigs --")}, options)
        for shell, pattern in (("zsh", r"--(\w+)[}']*\["), ("fish", r"complete -c .* -l (\w+)")):
            with self.subTest(shell=shell), open(completion(shell), encoding="utf-8") as file:
                self.assertEqual(set(re.findall(pattern, file.read())), options)


if __name__ == "__main__":
    harness.main()
