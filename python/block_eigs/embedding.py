"""Laplacian eigenmaps with the arguments of scikit-learn."""

import warnings

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, laplacian

from . import _inputs
from ._csr import csr_matrix_of, without_mask
from ._eigsh import eigsh

_SOLVERS = {None: "auto", "arpack": "auto", "lobpcg": "auto", "amg": "amg"}


def spectral_embedding(
    adjacency,
    *,
    n_components=8,
    eigen_solver=None,
    random_state=None,
    eigen_tol="auto",
    norm_laplacian=True,
    drop_first=True,
    device="auto",
):
    """The vertices of a graph by the smallest eigenvectors of its Laplacian (Belkin, Niyogi 2003).

    In place of sklearn.manifold.spectral_embedding: arguments, result, signs and warnings are the same, but where
    the graph has several components. Of the vectors to eigenvalue zero that there are then, scikit-learn drops any
    one; here it is the one that is constant throughout.

    Parameters
    ----------
    adjacency : (n, n) sparse matrix or array
        Weights of the edges, none negative, such as AnnData's ``obsp["connectivities"]``. The diagonal does not
        count. float32 is worked with in double, and answered in float32.
    n_components : int
        Columns of the result. Where the graph has fewer vertices all that there are, with a warning.
    eigen_solver : "arpack", "lobpcg", "amg" or None
        "amg" preconditions by multigrid (pyamg is not needed); else a preconditioner is chosen by the entries.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None
        Of the start vectors. None draws the same ones every time.
    eigen_tol : float or "auto"
        tol of eigsh; "auto" stands for 0.
    norm_laplacian : bool
        I - D^-1/2 W D^-1/2, and its eigenvectors times D^-1/2; otherwise D - W.
    drop_first : bool
        Without the constant vector of eigenvalue zero.
    device : "auto", "host" or "cuda"

    Returns
    -------
    (n, n_components) array, or fewer columns

    Raises
    ------
    NotConverged, Interrupted, TypeError, ValueError
        As eigsh.
    """
    if eigen_solver not in _SOLVERS:
        raise ValueError(f"eigen_solver must be 'arpack', 'lobpcg', 'amg' or None, not {eigen_solver!r}")
    n_components = _inputs.integer(n_components, "n_components")
    if n_components <= 0:
        raise ValueError(f"n_components must be greater than 0, not {n_components}")
    weights, dtype = _symmetric(adjacency)
    n = weights.shape[0]
    if connected_components(weights, directed=False)[0] != 1:
        warnings.warn("Graph is not fully connected, spectral embedding may not work as expected.", stacklevel=2)
    matrix, scale = laplacian(weights, normed=norm_laplacian, return_diag=True)
    matrix, constant = matrix.tocsr(), np.ones(n)
    if norm_laplacian:
        # SciPy leaves 0 for a vertex without edges; with 1, as scikit-learn has it, it is no component of its own.
        matrix.setdiag(1.0)
        if weights.nnz > 0:
            constant = np.where(np.diff(weights.indptr) > 0, scale, 0.0)
    else:
        scale = constant
    if drop_first and n_components > n - 1:
        warnings.warn(
            f"n_components = {n_components}, but a graph of n = {n} vertices has {n - 1}: these are returned",
            RuntimeWarning,
            stacklevel=2,
        )
        n_components = n - 1
    if n_components == 0:
        return np.zeros((n, 0), dtype)
    _, vectors = eigsh(
        matrix if n_components < n else matrix.toarray(),  # of which all pairs are computed, with a warning
        n_components,
        tol=0 if eigen_tol == "auto" else eigen_tol,
        preconditioner=_SOLVERS[eigen_solver],
        rng=_seed(random_state),
        device=device,
        **{"constraints" if drop_first else "v0": constant},
    )
    vectors = vectors / scale[:, None]
    largest = vectors[abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return (vectors * np.sign(largest)).astype(dtype)


def _symmetric(adjacency):
    """The weights in double without diagonal and zeros, and the type of the result."""
    weights = adjacency if sp.issparse(adjacency) else without_mask(adjacency, "adjacency")
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1] or weights.shape[0] == 0:
        raise ValueError(f"adjacency must be a square matrix of one row or more, not of shape {weights.shape}")
    if weights.dtype.kind == "c":
        raise TypeError(f"adjacency is complex ({weights.dtype})")
    dtype = np.float32 if weights.dtype == np.float32 else np.float64
    weights = csr_matrix_of(weights, np.float64)
    if not np.isfinite(weights.data).all():
        raise ValueError("adjacency holds values that are not finite")
    difference = abs(weights - weights.T)
    if difference.nnz and difference.max() > 1e-10:
        warnings.warn(
            "Array is not symmetric, and will be converted to symmetric by average with its transpose.", stacklevel=3
        )
    if difference.nnz:
        weights = 0.5 * (weights + weights.T)
    weights = (weights - sp.diags(weights.diagonal())).tocsr()
    weights.eliminate_zeros()
    if weights.nnz > 0 and weights.data.min() < 0:
        raise ValueError(f"adjacency holds the weight {weights.data.min():g}: weights must not be negative")
    return weights, dtype


def _seed(random_state):
    """What eigsh takes as rng."""
    return random_state.randint(2**31 - 1) if hasattr(random_state, "randint") else random_state
