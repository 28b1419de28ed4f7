"""What a program says with --help as a page of section 1."""

import re

import roff

_SHORT = {
    "block-eigs": "eigenpairs of large sparse symmetric matrices",
    "block-solve": "large sparse symmetric systems with many right\\-hand sides",
}
_OTHER = {"block-eigs": "block-solve", "block-solve": "block-eigs"}


def _entries(lines):
    """(name, meaning) of lines of two columns; deeper names follow the section that they stand in by a point."""
    entries = []
    parent = ""
    for line in lines:
        line = re.sub(r" Excludes:(?: --[\w-]+)+ *| TEXT(?: REQUIRED| \.\.\.)? +", "  ", line)
        indent = len(line) - len(line.lstrip())
        name, _, meaning = line.strip().partition("  ")
        if indent > 10 or (entries and indent > 4):
            entries[-1][1] = f"{entries[-1][1]} {line.strip()}".strip()
        elif indent == 2:
            entries.append([name, meaning.strip()])
            parent = "" if meaning.strip() else name
        else:
            entries.append([f"{parent}.{name}", meaning.strip()])
    return [(name, meaning) for name, meaning in entries if meaning]


def sections(text):
    """The parts of a help text under their heads; what stands before the first is under the empty one."""
    parts = {"": []}
    head = ""
    for line in text.splitlines():
        if re.match(r"\w[^:]*(?: \([^)]*(?::[^)]*)?\))?:$", line) and not line.startswith("Usage"):
            head = line.split("(")[0].strip().rstrip(":")
            parts[head] = []
        elif line:
            parts[head].append(line)
    return parts


def page(name, text, version):
    """Raises KeyError where the help text has not the parts that it always had."""
    parts = sections(text)
    about = parts[""][0]
    keys = [line for line in parts["Config keys"] if line.startswith(" ")]
    said_after = [line for line in parts["Config keys"] if not line.startswith(" ")]
    page = roff.title(name, 1, version, "User commands") + roff.heading("NAME")
    page += f"{roff.escaped(name)} \\- {_SHORT[name]}\n"
    page += roff.heading("SYNOPSIS")
    page += f".B {roff.escaped(name)}\n[\\fIOPTIONS\\fR] \\fICONFIG.yaml\\fR [\\fIKEY=VALUE\\fR ...]\n.br\n"
    page += f".B mpirun \\-n\n\\fIN\\fR \\fB{roff.escaped(name)}\\fR "
    page += "[\\fIOPTIONS\\fR] \\fICONFIG.yaml\\fR [\\fIKEY=VALUE\\fR ...]\n"
    page += roff.heading("DESCRIPTION") + f"{roff.escaped(about.rstrip('.'))}.\n"
    for argument, meaning in _entries(parts["Positionals"]):
        page += roff.tagged(argument, meaning)
    page += roff.heading("OPTIONS")
    for option, meaning in _entries(parts["Options"]):
        page += roff.tagged(option.replace(",", ", "), meaning)
    page += roff.heading("CONFIG KEYS")
    page += "\\fBblock\\-eigs\\-config\\fR(5) explains them; defaults stand in parentheses.\n"
    for key, meaning in _entries(keys):
        page += roff.tagged(key, meaning)
    for line in said_after:
        head, _, rest = line.partition(": ")
        codes = head == "Exit code"
        page += roff.heading("EXIT STATUS" if codes else "RANKS") + f"{roff.escaped(rest if codes else line)}\n"
    page += roff.heading("ENVIRONMENT")
    page += roff.tagged("OMP_NUM_THREADS", "Threads of each rank; unset, a rank takes its share of the cores.")
    page += roff.heading("SEE ALSO")
    page += f"\\fB{roff.escaped(_OTHER[name])}\\fR(1), \\fBblock\\-eigs\\-config\\fR(5), \\fBmpirun\\fR(1)\n"
    return page
