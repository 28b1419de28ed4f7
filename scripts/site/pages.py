"""The Markdown of README and docs/ made ready for Sphinx: links that leave docs/ lead to pages that show those files, and
navigation comes from one list. New pages of docs/ need not be entered there."""

import pathlib
import posixpath
import re
import shutil

# In the order in which one reads them; what is not here yet is left out, what is not named goes to the end of the last one.
_NAVIGATION = {
    "Use": ["install", "python", "gallery/README", "config", "formats", "cluster", "petsc", "faults"],
    "Understand": ["theory", "performance", "plots/README", "architecture", "battery", "fuzzing"],
    "Reference": ["reference/python", "reference/cpp/index", "files/configs"],
    "More": [],
}
_LINK = re.compile(r"(?P<before>!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()(?P<target>[^()\s]+)(?P<after>\))")
_FENCE = re.compile(r"(^(?P<mark>```+|~~~+).*?^(?P=mark)[ ]*$|`[^`\n]+`|<!--.*?-->)", re.MULTILINE | re.DOTALL)
_LANGUAGES = {
    ".py": "python",
    ".cpp": "cpp",
    ".hpp": "cpp",
    ".yaml": "yaml",
    ".sbatch": "bash",
    ".sh": "bash",
    ".txt": "text",
    ".cff": "yaml",
    ".cmake": "cmake",
}


class Pages:
    """Copies pages of a tree `root` to `folder`."""

    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        self.shown = set()  # files and folders of the tree outside docs/ that pages link to

    def write(self):
        for path in sorted((self.root / "docs").rglob("*")):
            if path.is_dir() or "__pycache__" in path.parts:
                continue
            place = self.folder / path.relative_to(self.root / "docs")
            place.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".md":
                place.write_text(self.page(path))
            else:
                shutil.copyfile(path, place)
        start = self.page(self.root / "README.md")
        self.shown.add("configs")
        for page in self.folder.joinpath("reference").rglob("*.md"):
            page.write_text(self.page(page, "docs/" + page.relative_to(self.folder).as_posix()))
        for path in sorted(self.shown):
            self.show(path)
        (self.folder / "index.md").write_text(start + self.navigation())

    def page(self, path, place=None):
        """The text of a page without its comments, its links as the site has them."""
        place = place or path.relative_to(self.root).as_posix()
        parts = _FENCE.split(path.read_text())
        text, i = "", 0
        while i < len(parts):
            text += _LINK.sub(lambda link: self.link(link, place), parts[i])
            if i + 1 < len(parts) and not parts[i + 1].startswith("<!--"):
                text += parts[i + 1]
            i += 3  # text, what is fenced, its mark
        return text

    def link(self, link, place):
        target, _, anchor = link["target"].partition("#")
        if not target or ":" in target:
            return link[0]
        path = (
            target.lstrip("/")
            if target.startswith("/")
            else posixpath.normpath(posixpath.join(posixpath.dirname(place), target))
        )
        there = self.root / path
        if (there / "README.md").exists():
            path = posixpath.join(path, "README.md")
        elif path == "README.md":
            path = "docs/index.md"
        elif path.startswith("docs/") and not there.is_dir():
            pass
        elif there.exists():
            self.shown.add(path)
            path = f"docs/files/{path}.md"
        here = posixpath.dirname(place) if place.startswith("docs/") else "docs"
        before = "[](" if path.startswith("docs/") and link["before"].endswith(".md](") else link["before"]
        return before + posixpath.relpath(path, here) + ("#" + anchor if anchor else "") + link["after"]

    def show(self, path):
        """A page with a file of the tree, or with all of a folder."""
        there = self.root / path
        files = sorted(one for one in there.rglob("*") if one.is_file()) if there.is_dir() else [there]
        text = f"# {path}\n"
        for one in files:
            name = one.relative_to(there).as_posix() if there.is_dir() else ""
            code = one.read_text()
            mark = "`" * (3 + max((len(found) for found in re.findall(r"`{3,}", code)), default=0))
            text += f"\n## {name}\n" if name else ""
            text += f"\n{mark}{_LANGUAGES.get(one.suffix, 'text')}\n{code.rstrip()}\n{mark}\n"
        place = self.folder / f"files/{path}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(("" if path == "configs" else "---\norphan: true\n---\n") + text)

    def navigation(self):
        there = {page.relative_to(self.folder).with_suffix("").as_posix() for page in self.folder.rglob("*.md")}
        named = {name for names in _NAVIGATION.values() for name in names}
        nowhere = {name for name in there - named if not name.startswith(("files/", "reference/")) and name != "index"}
        text = ""
        for caption, names in _NAVIGATION.items():
            names = [name for name in names if name in there] + (sorted(nowhere) if caption == "More" else [])
            if names:
                text += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(names) + "\n```\n"
        return text


def version(root):
    """That of the project, which CMake has."""
    found = re.search(r"project\(block_eigs VERSION ([\d.]+)", (root / "CMakeLists.txt").read_text())
    return found.group(1)


def clean(folder):
    """An empty folder in place of what is there."""
    shutil.rmtree(folder, ignore_errors=True)
    pathlib.Path(folder).mkdir(parents=True)
