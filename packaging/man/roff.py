"""Text in the man macros of roff."""

import re


def escaped(text):
    """A line of text whose characters mean themselves."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def inline(text):
    """A line of Markdown: code and strong text are bold, links are their texts."""
    text = re.sub(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^()\s]*\)", r"\1", text)
    parts = re.split(r"(`[^`]+`|\*\*[^*]+\*\*)", text)
    whole = ""
    for part in parts:
        if part.startswith("`") and len(part) > 2:
            whole += "\\fB" + escaped(part[1:-1]).removeprefix("\\&") + "\\fR"
        elif part.startswith("**") and len(part) > 4:
            whole += "\\fB" + inline(part[2:-2]).removeprefix("\\&") + "\\fR"
        else:
            whole += escaped(part).removeprefix("\\&")
    return "\\&" + whole if whole.startswith((".", "'")) else whole


def title(name, section, version, manual):
    return f'.TH {name.upper()} {section} "" "block\\-eigs {version}" "{manual}"\n'


def heading(text):
    """Keys in it are as they are written in a config."""
    return f'.SH "{escaped(text)}"\n'


def subheading(text):
    return f'.SS "{inline(text)}"\n'


def paragraph(text):
    return f".PP\n{inline(text)}\n"


def tagged(tag, text):
    """A paragraph beside its tag; `tag` is bold."""
    return f".TP\n\\fB{inline(tag.replace('`', ''))}\\fR\n{inline(text) if text else chr(92) + '&'}\n"


def example(lines):
    return ".PP\n.RS 4\n.EX\n" + "".join(escaped(line) + "\n" for line in lines) + ".EE\n.RE\n"
