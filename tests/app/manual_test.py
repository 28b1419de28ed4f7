"""The tables of docs/config.md: their keys are those of the program, with the defaults that stand there."""

import os
import re

import harness

# Where the keys of a section's table stand in a config.
PLACES = {
    "eigensolver": "eigensolver.",
    "preconditioner": "eigensolver.preconditioner.",
    "linear_solver, right_hand_sides": "linear_solver.",
    "output": "output.",
    "checkpoint": "checkpoint.",
    "spmm, precision, device, halo, partition, profile": "",
    "Ends that are not the end": "",
}
LAPLACIAN = "matrix: {generate: laplacian1d, size: [900]}\n"
# What a generator must be told.
SIZES = {
    "laplacian1d": "size: [9]",
    "laplacian2d": "size: [3, 3]",
    "laplacian3d": "size: [2, 2, 2]",
    "elasticity3d": "size: [1, 1, 1]",
    "schroedinger3d": "size: [2, 2, 2]",
    "random_uniform": "rows: 20",
    "random_banded": "rows: 20",
    "random_spd": "rows: 20",
}


def read_manual():
    with open(os.path.join(harness.options.source, "docs", "config.md"), encoding="utf-8") as file:
        return file.read()


def literal(text):
    """The value that a text is, or None where it is more than that."""
    text = text.strip()
    if re.fullmatch(r"-?\d[\d.]*(e-?\d+)?", text):
        return float(text)
    word = re.fullmatch(r"`([\w-]+)`|(true|false)", text)
    return word and (word[1] or word[2])


class ManualTest(harness.AppTest):
    def resolved(self, text):
        """Keys of a resolved config by their paths, with their values."""
        check = self.run_program("--check", self.config(text), ranks=1)
        self.assertEqual(check.code, 0, check)
        found, path = {}, []
        for line in check.stdout[check.stdout.index("\nmatrix:") :].split("\n\n")[0].strip().splitlines():
            indent, key, value = re.fullmatch(r"( *)(\w+):(.*)", line).groups()
            path = path[: len(indent) // 2] + [key]
            found[".".join(path)] = literal(value) or literal(f"`{value.strip()}`") if value.strip() != "0" else 0.0
        return found

    def test_keys(self):
        """Defaults that are values are compared; a key that has none, or a section, is one that the program knows."""
        found = self.resolved(
            LAPLACIAN + "eigensolver: {preconditioner: {type: amg}, inner_precision: double}\noutput: {file: r.h5}\n"
            "checkpoint: {file: c.h5}\n"
        )
        compared = 0
        for heading, part in re.findall(r"^##+ ([^\n]*)\n(.*?)(?=^##|\Z)", read_manual(), re.MULTILINE | re.DOTALL):
            table = re.search(r"^\| key[^|]*\| default \|.*?\n\n", part + "\n\n", re.MULTILINE | re.DOTALL)
            if heading not in PLACES:
                continue
            for key, said in re.findall(r"^\| `([^`]*)` \| ([^|]*) \|", table[0], re.MULTILINE):
                key = PLACES[heading] + key.replace(": {algorithm: ...}", ".algorithm")
                with self.subTest(key=key):
                    if key in found and literal(said) is not None:
                        self.assertEqual(found[key], literal(said))
                        compared += 1
                    elif key not in found:
                        self.assert_known(key)
        self.assertGreater(compared, 20)

    def assert_known(self, key):
        """A value that cannot be one is what the program complains of, not the key."""
        answer = self.run_program(
            "--check", self.config(LAPLACIAN + "eigensolver: {preconditioner: {type: amg}}\n"), f"{key}=[[]]", ranks=1
        )
        self.assertEqual(answer.code, 2, answer)
        self.assertNotIn("unknown key", answer.stderr)

    def test_options_of_generators_and_preconditioners(self):
        compared = 0
        for name, options in re.findall(r"^\| `(\w+)` \| ([^|]*`[^|]*\)[^|]*) \|", read_manual(), re.MULTILINE):
            said = {key: literal(value) for key, value in re.findall(r"`(\w+)` \(([^):]*)[^)]*\)", options)}
            if name in ("jacobi", "chebyshev", "amg"):
                found = self.resolved(LAPLACIAN + f"eigensolver: {{preconditioner: {{type: {name}}}}}\n")
                place = "eigensolver.preconditioner."
            elif name in SIZES or "`scale`" in options:
                found, place = self.resolved(f"matrix: {{generate: {name}, {SIZES.get(name, 'seed: 1')}}}\n"), "matrix."
            else:
                continue
            said.pop("points", None)  # 0 in a resolved config: what the grid has by itself
            for key, value in said.items():
                with self.subTest(name=name, key=key):
                    self.assertIn(place + key, found)
                    if value is not None:
                        self.assertEqual(found[place + key], value)
                        compared += 1
        self.assertGreater(compared, 15)


if __name__ == "__main__":
    harness.main()
