"""Eigenpairs and linear systems of large sparse symmetric matrices, by blocks, on GPUs and CPUs.

>>> import scipy.sparse as sp
>>> from block_eigs import eigsh
>>> A = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(10_000, 10_000), format="csr")
>>> w, v = eigsh(A, k=4)

docs/python.md explains everything.
"""

import importlib as _importlib

from ._system import load_core as _load_core

_core = _load_core()

from ._communicator import forget_variables as _forget_variables  # noqa: E402
from ._eigsh import eigsh  # noqa: E402
from ._results import EigenPairs, Interrupted, NoCertificate, NotConverged, Solutions  # noqa: E402
from ._solve import solve  # noqa: E402

_forget_variables()  # MPI may run already
__version__ = _core.__version__
_LAZY = {
    "cotangent_laplacian": "meshes",
    "read_result": "files",
    "spectral_embedding": "embedding",
    "write_matrix": "files",
}
__all__ = ["EigenPairs", "Interrupted", "NoCertificate", "NotConverged", "Solutions", "eigsh", "solve", *_LAZY]


def __getattr__(name):
    """Files, graphs and meshes are for modules that are loaded when they are needed."""
    if name in _LAZY:
        return getattr(_importlib.import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
