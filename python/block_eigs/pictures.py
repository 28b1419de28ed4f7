"""Pictures of a run, drawn with matplotlib from plain arrays: each function draws into the axes that it is given.

plot_run(result) draws the usual ones of anything that has, of these, what is to be seen: residual_norms; limits();
history.residual_norms, history.in_float; preconditioners with first_iteration and description; eigenvalues,
error_bounds, status; rhs_norms, recursive_residual_norms, requested_tolerance; phases, a dict of seconds, or times with
name, mean, slowest. `limits` may be an array instead of a function; without it the tolerance of `config` is taken, with
attained_tolerances or rhs_norms."""

import contextlib

import matplotlib
import numpy as np

from block_eigs.convergence import plot_convergence
from block_eigs.costs import plot_memory, plot_stages, plot_times
from block_eigs.limits import limits_of_pairs, limits_of_solutions, tolerance_of
from block_eigs.spectrum import plot_bounds, plot_solutions, plot_spectrum
from block_eigs.style import MUTED, RC

__all__ = [
    "plot_convergence",
    "plot_spectrum",
    "plot_bounds",
    "plot_solutions",
    "plot_stages",
    "plot_times",
    "plot_memory",
    "plot_run",
    "styled",
]


def styled():
    """The context in which all pictures are drawn."""
    return matplotlib.rc_context(RC)


def changes_of(result):
    """(iterations done before, name of the preconditioner) of a result."""
    return [
        (choice.first_iteration, choice.description.split(", because ")[0])
        for choice in getattr(result, "preconditioners", None) or []
    ]


def stages_of(result):
    """(name, seconds) of the stages of a run; the last one is what is left of the whole."""
    times = getattr(result, "times", None) or []
    if isinstance(times, dict):
        stages = [(name, times.get(key, 0.0)) for name, key in (("set-up", "setup"), ("solve", "solve"), ("proof", "proof"))]
        whole = times.get("all", 0.0)
    else:
        of = getattr(result, "attributes", {}).get
        proof = getattr(result, "proof", None)
        stages = [
            ("set-up", of("setup_seconds", 0.0)),
            ("solve", of("solve_seconds", 0.0)),
            ("proof", proof.seconds if proof else 0.0),
        ]
        whole = times[-1].slowest if times else 0.0
    return stages + [("reading, checks", max(0.0, whole - sum(value for _, value in stages)))]


def phases_of(result):
    """(name, mean, slowest) of the phases that were profiled; empty where none were."""
    phases = getattr(result, "phases", None)
    if phases is not None:
        return [(name, value, value) for name, value in phases.items()]
    return [
        (phase.name, phase.mean, phase.slowest) for phase in getattr(result, "times", None) or [] if phase.name != "all"
    ]


def limits_of(result):
    """What residual norms have to come down to; None where that is not known. Where the history has more columns than
    there are pairs, the others have the largest limit."""
    limits = getattr(result, "limits", None)
    limits = limits() if callable(limits) else limits
    if limits is None:
        limits = _limits_by_config(result)
    history = getattr(result, "history", None)
    if limits is None or history is None:
        return limits
    more = np.asarray(history.residual_norms).shape[1] - len(limits)
    if more <= 0:
        return limits
    return np.concatenate([limits, np.full(more, np.nanmax(limits))]) if len(limits) else None


def _limits_by_config(result):
    """Of a result that has its tolerance in `config` alone."""
    config, attained, rhs_norms = (
        getattr(result, name, None) for name in ("config", "attained_tolerances", "rhs_norms")
    )
    if attained is not None:
        tolerance = tolerance_of(config, "eigensolver")
        return None if tolerance is None else limits_of_pairs(result.residual_norms, attained, tolerance)
    tolerance = tolerance_of(config, "linear_solver")
    return None if tolerance is None or rhs_norms is None else limits_of_solutions(rhs_norms, tolerance)


def draw_convergence(axes, result, span=None):
    history = getattr(result, "history", None)
    if history is None or len(history.residual_norms) == 0:
        axes.annotate(
            "no iterations: solved densely, or no history",
            (0.5, 0.5),
            xycoords="axes fraction",
            ha="center",
            color=MUTED,
        )
        axes.set_axis_off()
        return
    plot_convergence(
        axes,
        history.residual_norms,
        limits_of(result),
        status=getattr(result, "status", None),
        in_float=getattr(history, "in_float", None),
        changes=changes_of(result),
        span=span,
        what="pair" if getattr(result, "eigenvalues", None) is not None else "right-hand side",
    )


def draw_accuracy(axes, result):
    """The spectrum of an eigensolve; the residuals of a linear one."""
    if getattr(result, "eigenvalues", None) is not None:
        status = getattr(result, "status", None)
        plot_spectrum(
            axes,
            result.eigenvalues,
            getattr(result, "error_bounds", None),
            None if status is None else np.asarray(status) != "not_converged",
        )
        return
    plot_solutions(
        axes,
        result.rhs_norms,
        result.residual_norms,
        getattr(result, "recursive_residual_norms", None),
        getattr(result, "requested_tolerance", None),
    )


def plot_run(result, axes=None):
    """Convergence, the spectrum (or the residuals of a linear solve) and where the time went, side by side.

    `axes`: three axes, of which the last ones may be missing; one may be given as it is. Returns the figure."""
    from matplotlib import pyplot

    with styled() if axes is None else contextlib.nullcontext():
        if axes is None:
            figure, axes = pyplot.subplots(1, 3, figsize=(13, 3.9), width_ratios=[1.5, 1, 1], layout="constrained")
        axes = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
        drawn = [
            ("Convergence", draw_convergence),
            ("Spectrum", draw_accuracy),
            ("Time", lambda place, run: plot_times(place, phases_of(run) or [(*s, s[1]) for s in stages_of(run)])),
        ]
        if getattr(result, "eigenvalues", None) is None:
            drawn[1] = ("Residuals", draw_accuracy)
        for place, (title, draw) in zip(axes, drawn):
            draw(place, result)
            place.set_title(title, pad=18)
        return axes[0].figure
