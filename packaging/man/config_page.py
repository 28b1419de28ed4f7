"""docs/config.md as a page of section 5."""

import re

import roff

_CELLS = re.compile(r"(?<!\\)\|")


def _cells(row):
    return [cell.strip().replace("\\|", "|") for cell in _CELLS.split(row.strip().strip("|"))]


def _table(rows):
    """Each row is a paragraph whose tag is its first cell; a column in between is called by its head."""
    heads = _cells(rows[0])
    text = ""
    for row in rows[2:]:
        tag, *rest = _cells(row)
        said = [
            cell if i == len(heads) - 2 or not cell else f"{heads[i + 1]}: {cell}." for i, cell in enumerate(rest)
        ]
        text += roff.tagged(tag, " ".join(one for one in said if one))
    return text


def body(markdown):
    """All of a page but its title, in roff."""
    markdown = re.sub(r"<!--.*?-->\n?", "", markdown, flags=re.DOTALL)
    text, lines = "", markdown.splitlines()
    i = 0
    while i < len(lines):
        line = lines[i]
        end = i + 1
        if line.startswith("```"):
            while not lines[end].startswith("```"):
                end += 1
            text += roff.example(lines[i + 1 : end])
            end += 1
        elif line.startswith("|"):
            while end < len(lines) and lines[end].startswith("|"):
                end += 1
            text += _table(lines[i:end])
        elif line.startswith("## "):
            text += roff.heading(line[3:])
        elif line.startswith("### "):
            text += roff.subheading(line[4:])
        elif line and not line.startswith("# "):
            while end < len(lines) and lines[end] and not lines[end].startswith(("|", "```", "#")):
                end += 1
            text += roff.paragraph(" ".join(lines[i:end]))
        i = end
    return re.sub(r"^(\.S[HS] .*\n)\.PP\n", r"\1", text, flags=re.MULTILINE)


def page(markdown, version):
    return (
        roff.title("block-eigs-config", 5, version, "File formats")
        + roff.heading("NAME")
        + "block\\-eigs\\-config \\- the config file of block\\-eigs and block\\-solve\n"
        + roff.heading("DESCRIPTION")
        + body(markdown)
        + roff.heading("SEE ALSO")
        + "\\fBblock\\-eigs\\fR(1), \\fBblock\\-solve\\fR(1)\n"
    )
