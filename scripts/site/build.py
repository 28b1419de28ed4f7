"""Builds the site of this tree's version in a folder that may hold those of others: build.py FOLDER."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

import cpp_reference
import links
import pages

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def build(folder):
    version = pages.version(ROOT)
    site = folder / version
    with tempfile.TemporaryDirectory() as work:
        source, html = pathlib.Path(work, "source"), pathlib.Path(work, "html")
        reference = source / "reference"
        cpp_reference.write(ROOT, reference / "cpp")
        shutil.copyfile(HERE / "python_reference.md", reference / "python.md")
        pages.Pages(ROOT, source).write()
        code = subprocess.run(
            [
                sys.executable,
                "-B",
                "-m",
                "sphinx",
                "-W",
                "--keep-going",
                "-q",
                "-j",
                "auto",
                "-c",
                str(HERE),
                str(source),
                str(html),
            ],
            check=False,
        ).returncode
        broken = links.broken(html) if code == 0 else []
        for line in broken:
            print(line, file=sys.stderr)
        if code or broken:
            return 1
        shutil.rmtree(html / ".doctrees", ignore_errors=True)
        (html / ".buildinfo").unlink(missing_ok=True)
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(html, site)
    _list_versions(folder)
    print(f"-- {site / 'index.html'}")
    return 0


def _list_versions(folder):
    """For the menu, newest first, and a page that leads to the newest."""
    numbers = [one.parent.name for one in folder.glob("*/searchindex.js") if one.parent.name.replace(".", "").isdigit()]
    numbers.sort(key=lambda one: [int(part) for part in one.split(".")], reverse=True)
    (folder / "versions.js").write_text(f"window.documentedVersions = {numbers!r};\n")
    (folder / "index.html").write_text(
        f'<!doctype html><meta http-equiv="refresh" content="0; url={numbers[0]}/index.html">'
        f'<title>block-eigs</title><a href="{numbers[0]}/index.html">block-eigs</a>\n'
    )


if __name__ == "__main__":
    sys.exit(build(pathlib.Path(sys.argv[1])))
