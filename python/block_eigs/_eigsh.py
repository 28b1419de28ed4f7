"""Eigenpairs of symmetric matrices and operators."""

import warnings

import numpy as np

from . import _communicator, _core, _inputs
from ._eigen_request import eigen_request
from ._gpu import columns_backwards
from ._results import EigenPairs, raise_where_unfinished
from ._run import run

_INSTEAD = {
    "LM": "the eigenvalues of largest magnitude are at the two ends of the spectrum: take which='LA' (positive ones), "
    "which='SA' (negative ones), or both and choose",
    "SM": "eigenvalues next to zero are at the lower end of the spectrum where A is positive semidefinite: take "
    "which='SA'. Inside an indefinite spectrum, scipy.sparse.linalg.eigsh(A, k, sigma=0) factorises A",
    "BE": "call eigsh twice, with which='SA' and with which='LA', for half of the pairs each",
}


def eigsh(
    A,
    k=6,
    M=None,
    sigma=None,
    which="SA",
    v0=None,
    ncv=None,
    maxiter=None,
    tol=0,
    return_eigenvectors=True,
    Minv=None,
    OPinv=None,
    mode="normal",
    *,
    preconditioner="auto",
    coordinates=None,
    near_null_space=None,
    unknowns_per_node=None,
    constraints=None,
    block_size=None,
    rng=None,
    convergence="relative",
    verify=None,
    max_seconds=None,
    device="auto",
    options=None,
    profile=False,
    comm=None,
    callback=None,
    progress=None,
    return_info=False,
):
    """The k smallest or largest eigenpairs of A x = w x or A x = w M x, A and M real and symmetric.

    Arguments are those of scipy.sparse.linalg.eigsh where they mean the same, in the same places.

    Parameters
    ----------
    A : sparse matrix or array, ndarray, tensor, LinearOperator, or function
        float32 works in single precision, all else in double. Of an operator, matmat is called with blocks, as is a
        function, which needs an M with a shape, or v0, to know the number of rows by.
    k : int
        Pairs wanted, less than the number of rows. Of a dense A alone there may be more: then all are computed, with
        a warning.
    M : as A, optional
        Positive definite. A function has the rows of A, and its type.
    which : "SA" or "LA"
        Smallest (the default) or largest, algebraically.
    v0 : (n,) or (n, m) array, optional
        Start vectors.
    maxiter : int, optional
        Iterations; 500 where it is not given.
    tol : float
        A pair is done at ``|A x - w M x| <= tol |w| |M x|``, or where the arithmetic allows no more. 0 stands for
        1e-8, in single precision 1e-5: eigenvalues are then exact to about the last digit, because their error goes
        with the square of the residual; eigenvectors are as exact as the residual over the gap between eigenvalues.
    return_eigenvectors : bool
        Whether v is wanted beside w.
    preconditioner : str, dict, LinearOperator, matrix, function or None
        "auto" chooses by the entries of A; "none", "jacobi", "chebyshev", "amg", "direct" as docs/config.md explains them; a
        dictionary with their options, such as ``{"type": "amg", "shift": -3.2}``; or what multiplies a block with an
        approximate inverse of A, which must be symmetric positive definite.
    coordinates : (nodes, 2 or 3) array, optional
        Places of the nodes of an elastic body, for multigrid.
    near_null_space : (n, m) array, optional
        Vectors that A without its boundary conditions maps to nearly zero, for multigrid.
    unknowns_per_node : int, optional
        Consecutive rows that belong together, for multigrid.
    constraints : (n,) or (n, m) array, optional
        Known eigenvectors, which are kept out of the result.
    block_size : int, optional
        Columns at work.
    rng : int or numpy.random.Generator, optional
        Seed of the random start vectors, or what draws it. 1 where it is not given: runs repeat bit for bit.
    convergence : "relative", "norm" or "absolute"
        What the residual is held against, see docs/config.md.
    verify : "auto", "probe", "residuals", "inertia" or False, optional
        What is done to know that no pair was missed; "auto", which is "inertia" where its factors cost little and
        else "probe", unless A or M is an operator. False stands for "residuals", by which nothing is done.
    max_seconds : float, optional
        Time after which iterations end, as at maxiter. What comes after them is not counted.
    device : "auto", "host" or "cuda"
        Where the work is done; "auto": on a GPU where there is one.
    options : dict, optional
        More keys of the config's section `eigensolver`.
    profile : bool
        Whether `phases` of the result says where the time went.
    comm : mpi4py communicator, optional
        Its ranks work together, each giving and getting its rows: A, M are (own rows, n) sparse matrices (operators
        act on own rows), v0, constraints and the result have own rows. Every rank makes the same call.
    callback : function, optional
        Called after every iteration with a namespace: iteration, converged, wanted, eigenvalues, residual_norms, worst
        (largest residual over its limit), seconds.
    progress : bool, optional
        A progress bar; where there is a terminal or a notebook unless it is given.
    return_info : bool
        Return the EigenPairs beside the arrays.

    Returns
    -------
    EigenPairs
        Unpacks as ``w, v``: eigenvalues ascending, and columns with ``v.T @ M @ v = I``. With
        return_eigenvectors=False the array w alone; with return_info=True ``w, v, info`` or ``w, info``.

    Raises
    ------
    NotConverged
        Not all pairs are done; `eigenvalues` and `eigenvectors` are those that are, `result` is everything. It is
        an ArpackNoConvergence of SciPy.
    Interrupted
        On Ctrl-C, likewise; a KeyboardInterrupt.
    NoCertificate
        verify="inertia" was asked for and could not be carried out; `result` is everything.
    MemoryError, RuntimeError
        Memory, of the host or of a GPU; MPI, a device.
    TypeError, ValueError
        The problem is none that can be solved: not symmetric, complex, NaN, M not positive definite, shapes.
    """
    _communicator.check(comm)

    def prepare():
        _refuse(sigma, which, ncv, Minv, OPinv, mode)
        return *_operands(A, M, v0), _check_count(k)

    a, m, k = _communicator.on_all(comm, prepare)
    n = _communicator.total(comm, a.shape[0])
    _communicator.on_all(comm, lambda: _inputs.check_shape(a, "A", comm, n))
    if k >= n:
        k = _all_pairs(a, m, k, n, comm)

    def request():
        return eigen_request(
            a,
            m,
            n,
            comm,
            given=(A, M),
            k=k,
            which=which,
            v0=v0,
            maxiter=maxiter,
            tol=tol,
            constraints=constraints,
            preconditioner=preconditioner,
            block_size=block_size,
            rng=rng,
            convergence=convergence,
            verify=verify,
            max_seconds=max_seconds,
            device=device,
            options=options,
            profile=profile,
            unknowns={
                "coordinates": coordinates,
                "near_null_space": near_null_space,
                "unknowns_per_node": unknowns_per_node,
            },
        )

    asked = _communicator.on_all(comm, request)
    _communicator.agree(comm, asked.facts())
    answer = run(_core.eigsh, asked, comm, callback, progress, k, "pairs", A)
    if which == "LA":
        _turn_round(answer)
    if asked.single:
        answer["eigenvalues"] = answer["eigenvalues"].astype(np.float32)
    pairs = EigenPairs(answer, k, return_eigenvectors, answer["seconds"])
    raise_where_unfinished(answer["exception"], pairs)
    if return_info:
        return (*pairs, pairs)
    return pairs if return_eigenvectors else pairs.eigenvalues


def _operands(A, M, v0):
    """A and M (None where there is none) as operands, where functions have the rows of the other one, or of v0."""
    m = None if M is None or _inputs.is_function(M) else _inputs.as_operand(M, "M")
    rows = None
    if _inputs.is_function(A):
        rows = m.shape[0] if m is not None else next(iter(np.shape(v0)), None)
    a = _inputs.as_operand(A, "A", rows)
    if m is None and M is not None:
        m = _inputs.as_operand(M, "M", a.shape[0], a.dtype)
    return a, m


def _refuse(sigma, which, ncv, Minv, OPinv, mode):
    """What SciPy's function has and this one has not."""
    if sigma is not None:
        raise NotImplementedError(
            "sigma: for the lowest eigenvalues leave it out, a preconditioner takes its place, which finds a shift for "
            "itself where it needs one; for eigenvalues inside the spectrum use scipy.sparse.linalg.eigsh"
        )
    if mode != "normal" or Minv is not None or OPinv is not None:
        raise NotImplementedError(
            "mode, Minv and OPinv belong to Lanczos with inverses; leave them out: M is not inverted here"
        )
    if ncv is not None:
        raise NotImplementedError(
            "ncv: how large a basis is depends on the method, which is chosen here; leave it out, or give block_size, "
            "the columns at work"
        )
    if not isinstance(which, str):
        raise ValueError(f"which must be 'SA' or 'LA', not {which!r}")
    if which in _INSTEAD:
        raise NotImplementedError(f"which={which!r}: {_INSTEAD[which]}")
    if which not in ("SA", "LA"):
        raise ValueError(f"which must be 'SA' or 'LA', not {which!r}")


def _check_count(k):
    k = _inputs.integer(k, "k")
    if k <= 0:
        raise ValueError(f"k must be greater than 0, not {k}")
    return k


def _all_pairs(a, m, k, n, comm):
    """n in the place of a larger k, with a warning, where A is dense; others are refused, as by SciPy's function."""
    dense = isinstance(a, np.ndarray) and (m is None or _inputs.is_matrix(m))
    if comm is not None or not dense or n == 0:
        raise TypeError(
            f"k must be less than the number of rows, but {k} pairs of {n} rows are asked for; reduce k, or use "
            "scipy.linalg.eigh(A.toarray()), which computes all pairs"
        )
    warnings.warn(f"k >= n for a matrix of n = {n} rows: all pairs are computed", RuntimeWarning, stacklevel=3)
    return n


def _turn_round(answer):
    """Largest first becomes ascending. No view backwards is left: PyTorch, MPI and the buffer protocol refuse them."""
    for name in ("eigenvalues", "residual_norms", "error_bounds", "attained_tolerances"):
        answer[name] = answer[name][::-1].copy()
    answer["status"] = answer["status"][::-1]
    answer["vectors"] = columns_backwards(answer["vectors"])
    history = answer["history"]
    for name in ("eigenvalues", "residual_norms"):
        if name in history:
            history[name] = history[name][:, ::-1].copy()
