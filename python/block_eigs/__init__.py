"""Eigenpairs and linear systems of large sparse symmetric matrices, by blocks, on GPUs and CPUs.

>>> import scipy.sparse as sp
>>> from block_eigs import eigsh
>>> A = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(10_000, 10_000), format="csr")
>>> w, v = eigsh(A, k=4)

docs/python.md explains everything.
"""

import atexit as _atexit

from . import _core
from ._eigsh import eigsh
from ._results import EigenPairs, Interrupted, NotConverged, Solutions
from ._solve import solve

__version__ = _core.__version__
__all__ = ["EigenPairs", "Interrupted", "NotConverged", "Solutions", "eigsh", "read_result", "solve", "write_matrix"]

# Only where this package has started MPI; whoever started it otherwise ends it.
_atexit.register(_core.end_mpi)


def __getattr__(name):
    """Files are read and written by modules that are loaded when they are needed."""
    if name in ("read_result", "write_matrix"):
        from . import files

        return getattr(files, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
