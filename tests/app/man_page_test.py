"""Man pages: all options that --help lists and all keys that the program has are in them, and roff has nothing to object to."""

import os
import re
import shutil
import subprocess

import completion_test
import harness


def page(name):
    return os.path.join(os.path.dirname(harness.options.program), "man", name)


def text(name):
    """What a reader sees, but for the breaking of lines."""
    with open(page(name), encoding="utf-8") as file:
        roff = file.read()
    return re.sub(r"\\f[BIR]|\\&", "", roff).replace("\\-", "-").replace("\\e", "\\")


class ManPageTest(harness.AppTest):
    def test_programs(self):
        for program in ("block-eigs", "block-solve"):
            path = os.path.join(os.path.dirname(harness.options.program), program)
            said = harness.run_command([path, "--help"], self.folder).stdout
            manual = text(program + ".1")
            words = " ".join(manual.split())
            for option in re.findall(r"^  (?:(-\w),)?(--\w+)", said, re.MULTILINE):
                self.assertIn("\n" + ", ".join(name for name in option if name) + "\n", manual)
            keys = said[said.index("Config keys") : said.index("Runs by itself")]
            sections = re.findall(r"^  (\w+)", keys, re.MULTILINE)
            self.assertGreater(len(sections), 10)
            for name in sections + [f"eigensolver.{key}" for key in re.findall(r"^    (\w+)", keys, re.MULTILINE)]:
                self.assertIn(name, words)
            for sentence in re.findall(r"^ {4,}\w+ {2,}(\S.*)", keys, re.MULTILINE):
                self.assertIn(" ".join(sentence.split()), words)

    def test_config(self):
        manual = text("block-eigs-config.5")
        for key in completion_test.table():
            missing = [name for name in key.split(".") if not re.search(rf"\b{name}\b", manual)]
            self.assertEqual(missing, [])
        with open(os.path.join(harness.options.source, "docs/config.md"), encoding="utf-8") as file:
            source = file.read()
        for heading in re.findall(r"^## (.*)", source, re.MULTILINE):
            self.assertTrue(f'.SH "{heading}"' in manual, heading)
        rows = re.findall(r"^\| `(\w+)` \| (?!options)", source, re.MULTILINE)
        self.assertGreater(len(rows), 40)
        self.assertEqual([row for row in rows if f"\n.TP\n{row}\n" not in manual], [])
        self.assertEqual(re.findall(r"`|\]\(|<!--", manual), [])

    def test_roff(self):
        groff = shutil.which("groff")
        if groff is None:
            self.skipTest("needs groff")
        for name in ("block-eigs.1", "block-solve.1", "block-eigs-config.5"):
            line = [groff, "-man", "-k", "-Kutf8", "-Tutf8", "-ww", "-rLL=100n", "-z", page(name)]
            answer = harness.run_command(line, self.folder)
            self.assertEqual((answer.code, answer.stdout, answer.stderr), (0, "", ""))


if __name__ == "__main__":
    harness.main()
