"""What the config's keys are called among the arguments, for messages of the solvers."""

import re

_NAMES = {
    "pairs": "k",
    "max_iterations": "maxiter",
    "tolerance": "tol",
    "initial": "v0",
    "seed": "rng",
}


def argument(key):
    """'eigensolver.max_iterations' is maxiter."""
    section, _, rest = key.partition(".")
    if section not in ("eigensolver", "linear_solver"):
        return key
    if key == "linear_solver.initial":
        return "x0"
    return _NAMES.get(rest, rest)


def sentence(text):
    """A message about the config without the place in a file that there is not, in the words of the arguments."""
    text = re.sub(r"^(eigsh|solve):\d+: ", "", text)
    return re.sub(r"\b(eigensolver|linear_solver)(\.\w+)+", lambda found: argument(found.group()), text)


def value(text):
    """A value of the config as it is written in Python: {type: auto} is 'auto'."""
    if not (text.startswith("{") and text.endswith("}")):
        return text
    items = [item.partition(":") for item in text[1:-1].split(",")]
    section = {key.strip(): _number_or_text(item.strip()) for key, _, item in items}
    return repr(section["type"] if list(section) == ["type"] else section)


def _number_or_text(text):
    try:
        return float(text)
    except ValueError:
        return text
