"""One version: project() in CMakeLists.txt has it, and what cannot read it there agrees."""

import json
import os
import re

import harness


def read(*path):
    with open(os.path.join(harness.options.source, *path), encoding="utf-8") as file:
        return file.read()


class VersionsTest(harness.AppTest):
    def test_all_are_one(self):
        version = re.search(r"project\(block_eigs VERSION ([\d.]+)", read("CMakeLists.txt"))[1]
        places = {
            "CITATION.cff": (read("CITATION.cff"), r"^version: (.*)$"),
            "newest in docs/release-notes.md": (read("docs/release-notes.md"), r"^## ([\d.]+)"),
            "newest in packaging/debian/changelog": (read("packaging/debian/changelog"), r"\A[\w-]+ \(([\d.]+)-\d+\)"),
            "newest in packaging/spack": (read("packaging/spack/packages/block-eigs/package.py"), r'version\("([\d.]+)"'),
        }
        for recipe in ("cpu", "cuda"):
            label = (read(f"packaging/containers/{recipe}.Dockerfile"), r'image.version="([\d.]+)"')
            places[f"label of packaging/containers/{recipe}.Dockerfile"] = label
        for place, (content, pattern) in places.items():
            with self.subTest(place=place):
                self.assertEqual(re.search(pattern, content, re.MULTILINE)[1], version)
        self.assertIn('dynamic = ["version"]', read("pyproject.toml"))
        self.assertIn('input = "CMakeLists.txt"', read("pyproject.toml"))
        self.assertEqual(self.run_program("--version", ranks=1).stdout, f"block-eigs {version}\n")
        config = self.config("matrix: {generate: laplacian1d, size: [50]}\n")
        self.assertEqual(json.loads(self.run_program("--json", config, ranks=1).stdout)["version"], version)


if __name__ == "__main__":
    harness.main()
