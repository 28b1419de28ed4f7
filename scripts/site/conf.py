"""Sphinx's settings of the documentation site; scripts/docs runs it on what pages.py has written."""

import pathlib
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "scripts" / "site")]

import pages  # noqa: E402

project = "block-eigs"
author = "the block-eigs authors"
copyright = author
version = release = pages.version(ROOT)

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
default_role = "literal"
language = "en"
highlight_language = "none"  # what does not say so is no Python

myst_heading_anchors = 4  # the same as on code hosts: config.md#preconditioner
suppress_warnings = ["myst.strikethrough"]

# Signatures are those of Python alone: the compiled module need not be there.
stand_in = types.ModuleType("block_eigs._system")
stand_in.load_core = lambda: types.SimpleNamespace(
    __version__=release, end_mpi=lambda: None, forget_variables_of_mpi=lambda known: None
)
sys.modules["block_eigs._system"] = stand_in
import block_eigs  # noqa: E402

# Attributes of every run are shown with those of each kind.
_of_every_run = block_eigs._results._Run.__doc__.partition("----------\n")[2].rstrip()
for kind in (block_eigs.EigenPairs, block_eigs.Solutions):
    kind.__doc__ = (
        kind.__doc__.replace("Beside what is said of every run:\n", "").rstrip() + "\n" + _of_every_run + "\n"
    )
autodoc_preserve_defaults = True
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"block-eigs {release}"
html_static_path = [str(ROOT / "scripts" / "site" / "static")]
html_css_files = ["site.css"]
html_js_files = ["menu.js"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
