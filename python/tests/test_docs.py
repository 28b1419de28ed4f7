"""What README and docs/python.md show first is run, at a small size."""

import pathlib
import re

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_first_example(page):
    code = re.search(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL).group(1)
    small = re.sub(r"shape=\(\d[\d_]*, \d[\d_]*\)", "shape=(14, 14)", code)
    assert small != code
    scope = {}
    exec(compile(small, page, "exec"), scope)
    A, w, v = scope["A"], scope["w"], scope["v"]
    assert len(w) == v.shape[1] and np.linalg.norm(A @ v - v * w) < 1e-6


def test_arguments_are_explained():
    import inspect

    import block_eigs

    for function in (block_eigs.eigsh, block_eigs.solve):
        for name in inspect.signature(function).parameters:
            if name not in ("sigma", "ncv", "Minv", "OPinv", "mode"):
                assert re.search(rf"^    .*\b{name}\b", function.__doc__, re.MULTILINE), name
