"""Linear systems with symmetric positive definite matrices, many right-hand sides at once."""

import numpy as np

from . import _communicator, _core, _inputs, _words
from ._results import Solutions, raise_where_unfinished
from ._run import Request, device_for, extended, preconditioner_section, run, tolerance


def solve(
    A,
    F,
    x0=None,
    *,
    tol=0,
    maxiter=None,
    preconditioner="auto",
    coordinates=None,
    near_null_space=None,
    unknowns_per_node=None,
    block_size=None,
    max_seconds=None,
    device="auto",
    options=None,
    profile=False,
    comm=None,
    callback=None,
    progress=None,
):
    """Solves A X = F for all columns of F at once, by block conjugate gradients; A real, symmetric, positive definite.

    Parameters
    ----------
    A : sparse matrix or array, ndarray, tensor, LinearOperator, or function
        float32 works in single precision, all else in double. Of an operator, matmat is called with blocks, as is a
        function, which has the rows of F.
    F : (n,) or (n, m) array
        Right-hand sides.
    x0 : as F, optional
        A first guess.
    tol : float
        A right-hand side is done at ``|f - A x| <= tol |f|``. 0 stands for 1e-8, in single precision 1e-5.
    maxiter : int, optional
        Iterations of each block of right-hand sides; 1000 where it is not given.
    preconditioner : str, dict, LinearOperator, matrix, function or None
        As for eigsh.
    block_size : int, optional
        Right-hand sides solved at once, 16 where it is not given; more are solved in turns.
    coordinates, near_null_space, unknowns_per_node, max_seconds, device, profile, comm, callback, progress
        As for eigsh.
    options : dict, optional
        More keys of the config's section `linear_solver`.

    Returns
    -------
    Solutions
        `x` is shaped as F.

    Raises
    ------
    NotConverged, Interrupted
        Not all is solved; `result` has the best there is.
    TypeError, ValueError
        As for eigsh.
    """
    _communicator.check(comm)
    shape = _communicator.on_all(comm, lambda: tuple(np.shape(F)))
    a = _communicator.on_all(comm, lambda: _inputs.as_operand(A, "A", next(iter(shape), 0)))
    n = _communicator.total(comm, a.shape[0])

    def request():
        return _request(
            a,
            F,
            x0,
            n,
            comm,
            given=A,
            tol=tol,
            maxiter=maxiter,
            preconditioner=preconditioner,
            block_size=block_size,
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
    sides = asked.blocks["F"].shape[1]
    _communicator.agree(comm, {"the number of right-hand sides": str(sides), **asked.facts()})
    answer = run(_core.solve, asked, comm, callback, progress, sides, "right-hand sides", A)
    answer["vectors"] = answer["vectors"].reshape(shape)
    solutions = Solutions(answer, answer["seconds"])
    raise_where_unfinished(answer["exception"], solutions)
    return solutions


def _request(a, F, x0, n, comm, *, given, tol, maxiter, preconditioner, block_size, max_seconds, device, options, profile, unknowns):
    rows = a.shape[0]
    _inputs.check_shape(a, "A", comm, n)
    dtype = _inputs.real_type(a.dtype, "A")
    request = Request(dtype == np.float32, rows)
    request.a = _inputs.csr_arrays(a, dtype, given) if _inputs.is_matrix(a) else _inputs.function_of(a, "A")
    request.config["right_hand_sides"] = request.add_block("F", _inputs.block(F, "F", rows))
    solver = {
        "tolerance": tolerance(tol, dtype),
        "preconditioner": preconditioner_section(request, preconditioner, unknowns),
    }
    if not _inputs.is_matrix(a) and solver["preconditioner"] == {"type": "auto"}:
        solver["preconditioner"] = {"type": "none"}
    for name, value in (("max_iterations", maxiter), ("block_size", block_size)):
        if value is not None:
            solver[name] = _inputs.integer(value, _words.argument(f"linear_solver.{name}"))
    if x0 is not None:
        solver["initial"] = request.add_block("x0", _inputs.block(x0, "x0", rows))
    arguments = {
        "tolerance": ("tol", tol),
        "max_iterations": ("maxiter", maxiter),
        "block_size": ("block_size", block_size),
        "initial": ("x0", x0),
        "preconditioner": ("preconditioner", None if isinstance(preconditioner, str) and preconditioner == "auto" else preconditioner),
    }
    request.config["linear_solver"] = extended(solver, options, arguments)
    if max_seconds is not None:
        request.config["max_seconds"] = _inputs.number(max_seconds, "max_seconds")
    request.config["profile"] = bool(profile)
    request.config["device"] = device_for(device, request)
    return request
