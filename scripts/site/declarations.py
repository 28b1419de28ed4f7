"""Public declarations of a C++ header with the comments (///) above them: what the reference is made of.

It reads the text by lines and relies on how clang-format leaves it: what stands in a namespace begins in the first
column, and braces and parentheses are balanced where a declaration ends.
"""

import re
from dataclasses import dataclass

_TYPE = re.compile(
    r"^(?:template\b.*\n)*(?:typedef )?(?:enum class|class|struct|enum|union|concept|using)\s+(?:alignas\(\w+\) )?(\w+)"
)
_FUNCTION = re.compile(r"(operator\s*[^\s\w(]+|operator\(\)|~?\w+)\s*\(")
_C_COMMENT = re.compile(r"^/\*(.*?)\*/", re.MULTILINE | re.DOTALL)  # of headers in C
_ATTRIBUTE = re.compile(r"__attribute__ ?\(\((?:[^()]|\([^()]*\))*\)\) ?")
_LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'')


@dataclass
class Declaration:
    name: str
    code: str
    text: str  # of the comment, without its slashes
    scope: str  # the namespace


def declarations(source):
    """Those of a header, in its order."""
    found, scope, comment, lines = [], "", [], []
    for line in _without_directives(_C_COMMENT.sub(_as_lines, source)):
        if lines:
            lines.append(line)
        elif opened := re.match(r"(?:inline )?namespace ([\w:]*) ?{", line):
            scope = opened.group(1)
        elif line.startswith("///"):
            comment.append(line[4:] if line.startswith("/// ") else line[3:])
        elif line.startswith(("//", "}", "#", 'extern "C"')) or not line.strip():
            comment = []
        else:
            lines.append(line)
        if lines and _ends("\n".join(lines)):
            found.append(_declaration("\n".join(lines), "\n".join(comment), scope))
            comment, lines = [], []
    return [one for one in found if one and "detail" not in one.scope]


def _as_lines(comment):
    return "\n".join("/// " + line.strip() for line in comment.group(1).strip().split("\n"))


def _without_directives(source):
    lines, goes_on = [], False
    for line in source.splitlines():
        if not goes_on and not line.startswith("#"):
            lines.append(line)
        goes_on = line.endswith("\\") and (goes_on or line.startswith("#"))
    return lines


def _bare(code):
    """Without comments and what stands in quotes, which may hold braces."""
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", _LITERAL.sub("0", code), flags=re.DOTALL)


def _ends(code):
    bare = _bare(code).rstrip()
    if any(bare.count(a) != bare.count(b) for a, b in ("{}", "()", "[]")):
        return False
    return bare.endswith((";", "}"))


def _declaration(code, text, scope):
    code = _ATTRIBUTE.sub("", code)
    bare = _bare(code)
    if re.match(r"(?:template\b.*\n)*(?:class|struct) \w+;", bare) or bare.startswith(
        ("extern template", "static_assert", "namespace")
    ):
        return None
    if named := _TYPE.match(bare):
        return Declaration(named.group(1), _public_part(code), text, scope)
    head = _without_body(code)
    # The last line of a template's head may be its own; what follows the first parenthesis are parameters.
    called = _FUNCTION.search(
        re.sub(r"^template\b.*\n|^requires\b.*\n|\[\[\w+\]\] ?", "", _bare(head), flags=re.MULTILINE)
    )
    if called and not head[: head.find(called.group())].endswith("::"):  # else defined, and declared before
        return Declaration(re.sub(r"\s", "", called.group(1)), head, text, scope)
    variable = None if called else re.search(r"(\w+)(?:\[\w*\])*\s*(?:=|{|;)", bare)
    if not variable or bare[: variable.start()].endswith("::"):
        return None
    return Declaration(variable.group(1), code, text, scope)


def _public_part(code):
    """A type without what is private, and its functions without their bodies."""
    public, kept, member = True, [], []
    lines = code.split("\n")
    head = next(i for i, line in enumerate(lines) if "{" in line or ";" in line)
    for line in lines[head + 1 :]:
        if access := re.match(r" (public|private|protected):", line):
            public = access.group(1) == "public"
        if line.startswith("}"):
            kept.append(line)
        elif not public:
            continue
        elif member or re.match(r"  (?! |//|\})", line):
            member.append(line)
            if _ends("\n".join(member)):
                kept.append(_member("\n".join(member)))
                member = []
        else:
            kept.append(line)
    return re.sub(r"\n\n+(?=}|\n)", "\n", "\n".join(lines[: head + 1] + kept + member))


def _member(code):
    if re.match(r"  (?:class|struct) \w[^;]*{", code):
        inner = _public_part("\n".join(line.removeprefix("  ") for line in code.split("\n")))
        return "\n".join("  " + line if line else line for line in inner.split("\n"))
    return _without_body(code, indented=True)


def _without_body(code, indented=False):
    """`f(...) {...}` and `f(...) : a(b) {...}` as `f(...);`; what has no parameters before its brace stays."""
    bare_brace, depth = None, 0
    cleaned = re.sub(r"//[^\n]*", lambda m: " " * len(m.group()), _LITERAL.sub(lambda m: "0" * len(m.group()), code))
    for i, c in enumerate(cleaned):
        depth += (c == "(") - (c == ")")
        if c == "{" and depth == 0:
            bare_brace = i
            break
    before = cleaned[:bare_brace] if bare_brace is not None else ""
    if (
        ")" not in before
        or re.match(r"\s*(?:enum|struct|class|union)\b", before)
        or "=" in before.split("(")[0].replace("operator=", "")
    ):
        return code
    if initialisers := re.search(r"\)\s*(?:noexcept\s*)?:(?!:)\s", before):
        bare_brace = initialisers.start() + 1
    trailing = re.search(r"//[^\n]*$", code)
    return code[:bare_brace].rstrip() + ";" + ("  " + trailing.group() if trailing and indented else "")
