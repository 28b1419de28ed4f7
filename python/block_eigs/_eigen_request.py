"""From the arguments of eigsh to a request of the module."""

import numpy as np

from . import _inputs, _words
from ._run import Request, device_for, extended, preconditioner_section, tolerance


def _seed(rng):
    """What is drawn by a Generator, or by a RandomState of before."""
    draw = getattr(rng, "integers", getattr(rng, "randint", None))
    return rng if draw is None else int(draw(2**31 - 1))


def eigen_request(
    a,
    m,
    n,
    comm,
    *,
    given,
    k,
    which,
    v0,
    maxiter,
    tol,
    constraints,
    preconditioner,
    block_size,
    rng,
    convergence,
    verify,
    max_seconds,
    device,
    options,
    profile,
    unknowns,
):
    """The Request for operands `a` and `m` (None where there is none) of `n` rows over all ranks; `given` are these as
    the caller has them, `unknowns` the arguments that multigrid learns of rows by. Raises what eigsh raises."""
    rows = a.shape[0]
    single = _inputs.real_type(a.dtype, "A") == np.float32
    if m is not None:
        if m.shape[0] != rows:
            raise ValueError(f"A and M must have the same shape, not {a.shape} and {m.shape}")
        _inputs.check_shape(m, "M", comm, n)
        single &= _inputs.real_type(m.dtype, "M") == np.float32
    dtype = np.dtype(np.float32 if single else np.float64)
    matrices = _inputs.is_matrix(a) and (m is None or _inputs.is_matrix(m))

    request = Request(single, rows)
    request.a = _inputs.csr_arrays(a, dtype, given[0]) if _inputs.is_matrix(a) else _inputs.function_of(a, "A")
    if m is not None:
        request.config["mass"] = {"file": "M"}
        request.b = _inputs.csr_arrays(m, dtype, given[1]) if _inputs.is_matrix(m) else _inputs.function_of(m, "M")
    solver = {
        "pairs": k,
        "which": "smallest" if which == "SA" else "largest",
        "tolerance": tolerance(tol, dtype),
        "convergence": convergence,
        "preconditioner": preconditioner_section(request, preconditioner, unknowns),
    }
    if not matrices and solver["preconditioner"] == {"type": "auto"}:
        solver["preconditioner"] = {"type": "none"}
    if not matrices or request.preconditioner is not None:
        solver["filtered_start"] = False
    verify = "residuals" if verify is False else verify
    solver["verify"] = ("auto" if matrices else "residuals") if verify is None else verify
    for name, value in (("max_iterations", maxiter), ("block_size", block_size), ("seed", _seed(rng))):
        if value is not None:
            solver[name] = _inputs.integer(value, _words.argument(f"eigensolver.{name}"))
    if v0 is not None:
        solver["initial"] = request.add_block("v0", _inputs.block(v0, "v0", rows))
    if constraints is not None:
        solver["constraints"] = request.add_block("constraints", _inputs.block(constraints, "constraints", rows))
    arguments = {
        "pairs": ("k", k),
        "which": ("which", which),
        "tolerance": ("tol", tol),
        "max_iterations": ("maxiter", maxiter),
        "block_size": ("block_size", block_size),
        "seed": ("rng", rng),
        "initial": ("v0", v0),
        "constraints": ("constraints", constraints),
        "verify": ("verify", verify),
        "convergence": ("convergence", None if convergence == "relative" else convergence),
        "preconditioner": ("preconditioner", None if isinstance(preconditioner, str) and preconditioner == "auto" else preconditioner),
    }
    request.config["eigensolver"] = extended(solver, options, arguments)
    if max_seconds is not None:
        request.config["max_seconds"] = _inputs.number(max_seconds, "max_seconds")
    request.config["profile"] = bool(profile)
    request.config["device"] = device_for(device, request)
    return request
