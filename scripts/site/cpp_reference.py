"""The C++ reference: a page for every room of public headers, written from the comments in them."""

import itertools
import pathlib
import re

from declarations import declarations

# What `cmake --install` leaves out is not for users either.
_PRIVATE = {"host", "cuda", "plugin"}
_FIRST = [
    "solver/lobpcg",
    "solver/block_cg",
    "solver/preconditioner",
    "solver/multigrid",
    "solver/proof",
    "solver/space",
]


def write(root, folder):
    """Pages below `folder`, and an index with all of them. They are not in the site's navigation, which would have to
    be copied with all of their headings into every page."""
    rooms = {}
    for header in sorted(public_headers(root)):
        rooms.setdefault(header.parent.relative_to(root).as_posix(), []).append(header)
    order = sorted(rooms, key=lambda room: (_FIRST.index(room) if room in _FIRST else len(_FIRST), room))
    folder.mkdir(parents=True, exist_ok=True)
    rows = ""
    for room in order:
        text, types = _page(root, room, rooms[room])
        name = room.replace("/", "_")
        (folder / f"{name}.md").write_text(text)
        rows += f"| [{room}]({name}.md) | {', '.join(f'`{one}`' for one in dict.fromkeys(types))} |\n"
    (folder / "index.md").write_text(_INDEX + rows)


def public_headers(root):
    for room in ("spmm", "solver", "io"):
        for header in (root / room).rglob("*.h*"):
            if header.suffix in (".h", ".hpp") and not _PRIVATE & set(header.relative_to(root).parts):
                yield header


_INDEX = """# C++

Public declarations, from the headers that `cmake --install` puts under `include/block_eigs`, by folder. Eigenpairs begin at
[`lobpcg`](solver_lobpcg.md), linear systems at [`block_cg`](solver_block_cg.md), matrices at [`DistributedMatrix`](spmm_matrix.md) and
[`open_matrix`](io_formats.md), and everything at a [`Communicator` and a `Context`](spmm_parallel.md). All of it is in the namespace
`block_eigs`. A complete program is [first_own_program.cpp](/tests/install_example/first_own_program.cpp).

| headers in | types, or functions where there are none |
|---|---|
"""


def _page(root, room, headers):
    parts, types, others = [f"---\norphan: true\n---\n[C++](index.md)\n\n# {room}\n"], [], []
    first = room.rpartition("/")[2]
    for header in sorted(headers, key=lambda one: (one.stem != first, one.name)):
        found = declarations(header.read_text())
        if not found:
            continue
        # Headers in C are for programs that see no more of this project than its include folder.
        include = f"<{header.name}>" if header.suffix == ".h" else f'"{room}/{header.name}"'
        parts.append(f"## {header.name}\n\n```cpp\n#include {include}\n```\n")
        for (scope, name), group in itertools.groupby(found, key=lambda one: (one.scope, one.name)):
            inner = scope.removeprefix("block_eigs").removeprefix("::")
            title = f"{inner}::{name}" if inner else name
            parts.append(f"### {_plain(title)}\n")
            is_type = re.match(r"(?:template\b.*\n)*(?:enum class|enum|class|struct) ", (group := list(group))[0].code)
            (types if is_type else others).append(name)
            for one in group:
                if one.text:
                    parts.append(_prose(one.text) + "\n")
                parts.append(f"```cpp\n{one.code}\n```\n")
    return "\n".join(parts), types or others


def _prose(comment):
    """A comment as Markdown: what stands in backquotes stays, the rest is text and nothing else."""
    return "".join(part if part.startswith("`") else _plain(part) for part in re.split(r"(`[^`\n]*`)", comment))


def _plain(text):
    return re.sub(r"([\\*_<>\[\]`#])", r"\\\1", text)
