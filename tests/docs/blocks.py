"""Blocks of code in Markdown, and what comments before them say of how they are run.

Comments are for the machine alone: neither code hosts nor the site show them. Directly before a block there may be

    <!-- commands: skipped, needs two GPUs -->     not run, for this reason
    <!-- commands: needs skfem -->                 a Python module, or a path of the tree, without which it is not run
    <!-- commands: long -->                        run by scripts/check-docs, but not as a test
    <!-- commands: alone -->                       Python in a process of its own, which knows nothing of blocks before
    <!-- commands: before graph.py -->             runs tests/docs/before/graph.py first, or a file .sh
"""

import pathlib
import re
from dataclasses import dataclass, field

_BEFORE = pathlib.Path(__file__).resolve().parent / "before"
LANGUAGES = ("sh", "python", "yaml")
_PART = re.compile(
    r"<!-- *commands: *(?P<word>\w+)(?P<rest>.*?)-->|^ {0,3}(?P<mark>```+)(?P<language>\w*)[^\n]*\n(?P<code>.*?)^ {0,3}(?P=mark) *$",
    re.MULTILINE | re.DOTALL,
)


@dataclass
class Block:
    line: int
    language: str
    code: str
    skipped: str = ""
    needs: str = ""
    long: bool = False
    alone: bool = False
    before: list = field(default_factory=list)  # (language, code)


class PageError(Exception):
    """A comment that says nothing known, or stands before no block."""


def blocks(text):
    """All blocks in the languages that can be run."""
    found, said, end = [], {}, 0
    for part in _PART.finditer(text):
        line = text.count("\n", 0, part.start()) + 1
        if said and text[end : part.start()].strip():
            raise PageError(f"line {line}: a comment for commands stands before something else")
        end = part.end()
        if part["word"]:
            _listen(part["word"], part["rest"], said, line)
        elif part["language"] in LANGUAGES:
            found.append(Block(line, part["language"], part["code"], **said))
            said = {}
        elif said:
            raise PageError(
                f"line {line}: a comment for commands before a block that is none of {', '.join(LANGUAGES)}"
            )
    if said:
        raise PageError("a comment for commands stands at the end")
    return found


def _listen(word, rest, said, line):
    rest = rest.lstrip(", ")
    if word == "skipped" and rest.strip():
        said["skipped"] = " ".join(rest.split())
    elif word == "needs" and rest.strip():
        said["needs"] = rest.strip()
    elif word in ("long", "alone") and not rest.strip():
        said[word] = True
    elif word == "before" and (file := _BEFORE / rest.strip()).is_file():
        said.setdefault("before", []).append(({".py": "python", ".sh": "sh"}[file.suffix], file.read_text()))
    else:
        raise PageError(f"line {line}: 'commands: {word}' is not understood")
