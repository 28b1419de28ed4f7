"""What the config's keys and values are called among the arguments, for messages of the solvers."""

import re

_NAMES = {
    "pairs": "k",
    "max_iterations": "maxiter",
    "tolerance": "tol",
    "initial": "v0",
    "seed": "rng",
}
_OPERANDS = {"matrix": "A", "mass": "M", "right_hand_sides": "F"}
_VALUES = {"smallest": "SA", "largest": "LA"}

# Sentences about the config, or about A x = lambda B x, as they are of the arguments. In this order.
_IN_PYTHON = [
    (r"^(mass|right_hand_sides): ", lambda found: f"{_OPERANDS[found[1]]}: "),
    (r"^(?:preconditioner\.)?(\w+): (?=\1 )", ""),  # the block, or matrix, is named again
    (r"\bmax_iterations = ", "maxiter = "),
    (r"\bblock-eigs finds them\b", "eigsh finds them"),
    (r"\bdevice cuda: ", "device='cuda': "),
    (r"\b(device|verify|preconditioner): (auto|host|cuda|residuals|probe|inertia|jacobi|chebyshev|amg|direct)\b", r"\1='\2'"),
    (r"\buse type: (\w+)", r"use preconditioner='\1'"),
    (r"\bpreconditioner: (\{[^}]*\})", lambda found: f"preconditioner={value(found[1])}"),
    (r"\{type: (\w+)\}", r"{'type': '\1'}"),
    (r"'(\w+): (\w+)'", r"'\1': '\2'"),
    (r"\bprecision=float\b", "single precision: A.astype('float32')"),
    (r"\bprecision: double\b", "double precision: A.astype(float)"),
    (r"expected an integer, found '(-?\d+)'", r"must be less than 2**31 in size, not \1"),
    (r"expected an integer that is not negative, found '(\d+)'", r"must be less than 2**64, not \1"),
    (r"x'Bx\b", "x'Mx"),
    (r"(?<!\d )\bB\b", "M"),  # "16 B" are bytes
]


def argument(key):
    """'eigensolver.max_iterations' is maxiter."""
    section, _, rest = key.partition(".")
    if section not in ("eigensolver", "linear_solver"):
        return _OPERANDS.get(key, key)
    if key == "linear_solver.initial":
        return "x0"
    return _NAMES.get(rest, rest)


def sentence(text):
    """A message about the config without the place in a file that there is not, in the words of the arguments."""
    text = re.sub(r"^(eigsh|solve):\d+: ", "", text)
    text = re.sub(r"\b(eigensolver|linear_solver)(\.\w+)+", lambda found: argument(found.group()), text)
    for pattern, words in _IN_PYTHON:
        text = re.sub(pattern, words, text)
    return text


def value(text):
    """A value of the config as it is written in Python: {type: auto} is 'auto'."""
    if not (text.startswith("{") and text.endswith("}")):
        return text
    items = [item.partition(":") for item in text[1:-1].split(",")]
    return shown({key.strip(): _number_or_text(item.strip()) for key, _, item in items})


def shown(entry):
    """A part of the config as the caller would write it; of what is in memory, that it is there."""
    if isinstance(entry, dict) and "file" in entry:
        return "given"
    if isinstance(entry, dict) and list(entry) == ["type"]:
        entry = entry["type"]
    return repr(_VALUES.get(entry, entry) if isinstance(entry, str) else entry)


def _number_or_text(text):
    try:
        return float(text)
    except ValueError:
        return text
