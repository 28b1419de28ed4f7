"""Pictures of a run, drawn with matplotlib from plain arrays: each function draws into the axes that it is given.

plot_run(result) draws the usual ones of anything that has, of these, what is to be seen: residual_norms; limits();
history.residual_norms, history.in_float; preconditioners with first_iteration and description; eigenvalues,
error_bounds, status; rhs_norms, recursive_residual_norms, requested_tolerance; phases, a dict of seconds, or times with
name, mean, slowest. `limits` may be an array instead of a function; without it the tolerance of `config` is taken, with
attained_tolerances or rhs_norms."""

import contextlib

import matplotlib
import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from block_eigs.limits import limits_of_pairs, limits_of_solutions, tolerance_of
from block_eigs.style import (BAND, BLUE, GREEN, INK, LINE, MUTED, ORANGE, PURPLE, RC, RED, SURFACE, count,
                              power_of_ten, ramp, seconds, size)

__all__ = ["plot_convergence", "plot_spectrum", "plot_bounds", "plot_solutions", "plot_stages", "plot_times",
           "plot_memory", "plot_run", "styled"]

STAGE_COLOURS = [BLUE, ORANGE, GREEN, MUTED]


def styled():
    """The context in which all pictures are drawn."""
    return matplotlib.rc_context(RC)


def _log_axis(axis, low, high, most=7):
    """A logarithmic axis with a label every whole number of decades, without minor ticks."""
    low, high = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
    step = max(1, -(-(high - low) // most))
    exponents = range(-(-low // step) * step, high + 1, step)
    axis.set_major_locator(FixedLocator([10.0**e for e in exponents]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: power_of_ten(round(np.log10(value))) if value > 0 else ""))
    axis.set_minor_locator(NullLocator())


def _finite_range(values):
    values = values[np.isfinite(values) & (values > 0)]
    return (values.min(), values.max()) if values.size else (1e-1, 1.0)


def _course(ratios):
    """How far the curve of a pair goes: the first and the last iteration that it was at work in."""
    known = np.flatnonzero(np.isfinite(ratios))
    if known.size == 0:
        return None
    changes = np.flatnonzero(np.diff(ratios[known]) != 0)
    return known[0], known[changes[-1] + 1] if changes.size else known[0]


def plot_convergence(axes, residual_norms, limits=None, *, status=None, in_float=None, changes=(), what="pair", span=None):
    """Residuals [iterations, pairs] over iterations, in units of their limits where these are known: 1 is the goal.

    A curve ends with a dot where its pair is done, with a diamond where that was at the limit of the arithmetic
    (`status`: converged, at_accuracy_limit, not_converged), and with a cross where it never was. `in_float` [iterations]
    shades the part in single precision; `changes` are pairs of (iterations done before, label); `span`: least and largest
    value to be seen, where pictures stand side by side."""
    residual_norms = np.asarray(residual_norms, float)
    iterations, pairs = residual_norms.shape
    limits = None if limits is None else np.asarray(limits, float)
    ratios = _ratios(residual_norms, limits)
    low, high = span or span_of(residual_norms, limits)
    axes.set_yscale("log")
    axes.set_ylim(low / 2, high * 6)
    axes.set_xlim(0.5, max(iterations, 2) + 0.5)
    _shade_precision(axes, in_float, iterations)
    axes.grid(axis="y")
    if limits is not None:
        axes.axhline(1.0, color=INK, linewidth=1.1, zorder=1.5)
        axes.annotate("goal", (0.0, 1.0), xycoords=("axes fraction", "data"), xytext=(4, -4), va="top",
                      textcoords="offset points", fontsize=8.5, color=INK)
    steps = np.arange(1, iterations + 1)
    for j, colour in enumerate(ramp(pairs)):
        course = _course(ratios[:, j])
        if course is None:
            continue
        first, last = course
        axes.plot(steps[first:last + 1], ratios[first:last + 1, j], color=colour, linewidth=1.3 if pairs <= 40 else 0.8,
                  solid_joinstyle="round")
        marker, size_, end = _end_mark(ratios[last:, j], None if status is None else status[j:j + 1], limits is not None)
        axes.plot(steps[last], ratios[last, j], marker=marker, markersize=size_, color=end or colour,
                  markeredgecolor=SURFACE, markeredgewidth=0.5, zorder=3)
    _mark_changes(axes, changes, iterations)
    _log_axis(axes.yaxis, low, high)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
    axes.set_xlabel("iteration")
    axes.set_ylabel("residual ÷ its limit" if limits is not None else "residual norm")
    _ramp_legend(axes, pairs, what)


def _ratios(residual_norms, limits):
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = residual_norms if limits is None else residual_norms / limits
    return np.where(ratios > 0, ratios, np.nan)


def span_of(residual_norms, limits=None):
    """Least and largest value that plot_convergence shows."""
    low, high = _finite_range(_ratios(np.asarray(residual_norms, float), limits))
    return (low, high) if limits is None else (min(low, 0.1), max(high, 10.0))


def _end_mark(ratios, status, with_goal):
    """Marker, its size, and its colour where that is not the curve's."""
    word = status[0] if status is not None and len(status) else None
    if word == "at_accuracy_limit":
        return "D", 4.5, ORANGE
    if word == "converged" or (word is None and (not with_goal or np.nanmin(ratios) <= 1.0)):
        return "o", 4, None
    return "X", 6, RED


def _shade_precision(axes, in_float, iterations):
    if in_float is None or not np.any(in_float):
        return
    in_float = np.asarray(in_float, bool)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], in_float.view(np.int8), [0]])))
    for begin, end in zip(edges[::2], edges[1::2]):
        axes.axvspan(begin + 0.5, end + 0.5, color=BAND, linewidth=0, zorder=0)
        if end < iterations:
            axes.axvline(end + 0.5, color=MUTED, linewidth=0.8, zorder=1)
    inside = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "fontsize": 8.5, "color": MUTED,
              "va": "top"}
    begin, end = edges[0], edges[-1]
    axes.annotate("float", (begin + 0.5, 1.0), xytext=(4, -3), **inside)
    if end < iterations:
        axes.annotate("double", (end + 0.5, 1.0), xytext=(4, -3), **inside)


def _mark_changes(axes, changes, iterations):
    changes = [(first, label) for first, label in changes if 0 < first < iterations]
    for row, (first, label) in enumerate(changes):
        axes.axvline(first + 0.5, color=PURPLE, linewidth=1.0, linestyle=(0, (4, 2)), zorder=1.4)
        right = first > 0.6 * iterations
        axes.annotate(label, (first + 0.5, 1.0), xycoords=("data", "axes fraction"), color=PURPLE, fontsize=8.5,
                      xytext=(-4 if right else 4, -15 - 11 * (row % 3)), textcoords="offset points",
                      ha="right" if right else "left", va="top")


def _ramp_legend(axes, pairs, what):
    """pair 1 ▪▪▪▪▪ 16, above the picture on the right."""
    if pairs < 2:
        return
    colours = list(dict.fromkeys(ramp(min(pairs, 8))))
    width, x = 0.016, 1.0 - 0.012 * (len(str(pairs)) + 0.4)
    axes.annotate(f"{pairs}", (1.0, 1.0), xycoords="axes fraction", xytext=(0, 6), textcoords="offset points", ha="right",
                  fontsize=8.5, color=MUTED)
    for k, colour in enumerate(reversed(colours)):
        axes.add_patch(matplotlib.patches.Rectangle((x - (k + 1) * width, 1.025), width * 0.9, 0.022, clip_on=False,
                                                    transform=axes.transAxes, color=colour, linewidth=0))
    axes.annotate(f"{what} 1", (x - len(colours) * width - 0.006, 1.0), xycoords="axes fraction", xytext=(0, 6),
                  textcoords="offset points", ha="right", fontsize=8.5, color=MUTED)


def multiplicities(values, bounds=None):
    """Runs of equal eigenvalues: (first, last) where neighbours differ by less than their bounds, or by 1e-6 of them."""
    values = np.asarray(values, float)
    runs, first = [], 0
    for j in range(1, len(values) + 1):
        if j < len(values):
            apart = 1e-6 * max(abs(values[j]), abs(values[j - 1]))
            if bounds is not None and np.isfinite(bounds[j] + bounds[j - 1]):
                apart = max(apart, bounds[j] + bounds[j - 1])
            if abs(values[j] - values[j - 1]) <= apart:
                continue
        if j - first > 1:
            runs.append((first, j - 1))
        first = j
    return runs


def _visible(error_bounds, eigenvalues):
    """Whether bars of that length would be seen."""
    bounds = np.asarray(error_bounds, float)
    return np.isfinite(bounds).any() and np.nanmax(bounds) > 0.003 * (np.ptp(eigenvalues) or 1.0)


def plot_spectrum(axes, eigenvalues, error_bounds=None, done=None):
    """Eigenvalues in their order, with the bounds on their errors; those found several times are counted: ×3."""
    eigenvalues = np.asarray(eigenvalues, float)
    index = np.arange(1, len(eigenvalues) + 1)
    done = np.ones(len(index), bool) if done is None else np.asarray(done, bool)
    axes.grid(axis="y")
    if error_bounds is not None and _visible(error_bounds, eigenvalues):
        axes.errorbar(index, eigenvalues, yerr=np.nan_to_num(error_bounds), fmt="none", ecolor=ORANGE, elinewidth=1.5,
                      capsize=3, zorder=2)
    if len(index) <= 60:
        for first, last in multiplicities(eigenvalues, error_bounds):
            axes.plot(index[[first, last]], eigenvalues[[first, last]], color=BLUE, linewidth=5, alpha=0.25,
                      solid_capstyle="round", zorder=1.8)
            axes.annotate(f"×{last - first + 1}", (index[last], eigenvalues[last]), xytext=(4, -9),
                          textcoords="offset points", fontsize=8.5, color=MUTED)
    axes.plot(index[done], eigenvalues[done], "o", color=BLUE, markersize=5 if len(index) <= 60 else 2.5,
              markeredgecolor=SURFACE, markeredgewidth=0.5, zorder=3)
    axes.plot(index[~done], eigenvalues[~done], "X", color=RED, markersize=6.5, markeredgecolor=SURFACE,
              markeredgewidth=0.5, zorder=3)
    axes.set(xlabel="pair", ylabel="eigenvalue")
    axes.margins(x=0.04, y=0.12)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))


def plot_bounds(axes, eigenvalues, error_bounds, residual_norms=None):
    """How many digits of every eigenvalue are sure: its error bound, and its residual where bounds are not known."""
    eigenvalues = np.asarray(eigenvalues, float)
    scale = np.where(eigenvalues != 0, np.abs(eigenvalues), 1.0)
    known = error_bounds is not None and np.isfinite(error_bounds).any()
    values = np.asarray(error_bounds if known else residual_norms, float)
    index = np.arange(1, len(eigenvalues) + 1)
    relative = values / scale
    # Below the rounding of a double there is nothing to be seen.
    relative = np.maximum(relative, 1e-17)
    axes.set_yscale("log")
    axes.grid(axis="y")
    low, high = _finite_range(relative)
    axes.vlines(index, low / 10, relative, color=LINE, linewidth=1.2)
    axes.plot(index, relative, "D" if known else "o", color=ORANGE, markersize=4.5 if len(index) <= 60 else 2.5)
    axes.set_ylim(low / 5, high * 5)
    _log_axis(axes.yaxis, low / 5, high * 5, most=6)
    axes.margins(x=0.04)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
    axes.set(xlabel="pair", ylabel="error bound ÷ |eigenvalue|" if known else "residual ÷ |eigenvalue| (no bound known)")


def plot_solutions(axes, rhs_norms, residual_norms, recursive_norms=None, tolerance=None):
    """Of every right-hand side: the residual computed anew, and where the recurrence held it to be."""
    rhs_norms = np.asarray(rhs_norms, float)
    scale = np.where(rhs_norms > 0, rhs_norms, 1.0)
    index = np.arange(1, len(rhs_norms) + 1)
    true = np.maximum(np.asarray(residual_norms, float) / scale, 1e-18)
    axes.set_yscale("log")
    axes.grid(axis="y")
    shown = [true]
    if recursive_norms is not None:
        recursive = np.maximum(np.asarray(recursive_norms, float) / scale, 1e-18)
        shown.append(recursive)
        axes.plot(index, recursive, "_", color=MUTED, markersize=9, markeredgewidth=1.5, label="by the recurrence")
    axes.plot(index, true, "o", color=BLUE, markersize=5, markeredgecolor=SURFACE, markeredgewidth=0.5, label="computed anew")
    if tolerance:
        shown.append(np.array([tolerance]))
        axes.axhline(tolerance, color=INK, linewidth=1.1)
        axes.annotate("goal", (1.0, tolerance), xycoords=("axes fraction", "data"), xytext=(-2, 4), ha="right",
                      textcoords="offset points", fontsize=8.5)
    low, high = _finite_range(np.concatenate(shown))
    axes.set_ylim(low / 4, high * 8)
    _log_axis(axes.yaxis, low / 4, high * 8, most=6)
    axes.margins(x=0.05)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
    axes.set(xlabel="right-hand side", ylabel="‖f − A x‖ ÷ ‖f‖")
    axes.legend(loc="upper left", ncols=2, bbox_to_anchor=(0, 1.13), borderaxespad=0, handletextpad=0.3)


def plot_stages(axes, stages):
    """One bar for the whole run, with a part for each (name, seconds), coloured in the order of STAGE_COLOURS."""
    whole = sum(value for _, value in stages) or 1.0
    left = 0.0
    for (name, value), colour in zip(stages, STAGE_COLOURS):
        axes.barh(0, value, left=left, height=1.0, color=colour, edgecolor=SURFACE, linewidth=1.5)
        if value / whole > 0.1:
            axes.annotate(f"{100 * value / whole:.0f}%", (left + value / 2, 0), ha="center", va="center", fontsize=9.5,
                          color=SURFACE)
        left += value
    axes.set_xlim(0, left or 1.0)
    axes.set_ylim(-0.5, 0.5)
    axes.set_axis_off()


def plot_times(axes, phases):
    """Bars of (name, mean, slowest) in seconds, the longest first; a tick where the slowest rank took more."""
    phases = sorted(((name, mean, slowest) for name, mean, slowest in phases if slowest > 0), key=lambda p: p[1])
    whole = sum(mean for _, mean, _ in phases) or 1.0
    phases = [phase for phase in phases if phase[1] >= 1e-4 * whole]
    if not phases:
        axes.set_axis_off()
        return
    names, means, slowest = zip(*phases)
    place = np.arange(len(phases))
    axes.barh(place, means, height=0.62, color=BLUE)
    for y, mean, most in zip(place, means, slowest):
        uneven = most > 1.02 * mean
        if uneven:
            axes.plot([mean, most], [y, y], color=MUTED, linewidth=1.2)
            axes.plot([most, most], [y - 0.22, y + 0.22], color=MUTED, linewidth=1.2)
        axes.annotate(f"{seconds(mean)}  {100 * mean / whole:.0f}%" if mean >= 0.01 * whole else seconds(mean), (most, y),
                      xytext=(5, 0), textcoords="offset points", va="center", fontsize=9, color=INK)
    axes.set_yticks(place, names)
    axes.tick_params(axis="y", labelcolor=INK)
    axes.set_xlim(0, 1.32 * max(slowest))
    axes.spines[["bottom"]].set_visible(False)
    axes.xaxis.set_visible(False)


def plot_memory(axes, bars):
    """Bars of (name, bytes, predicted bytes): the peak, and a line where it was predicted."""
    bars = [bar for bar in bars if bar[1] > 0]
    place = np.arange(len(bars))[::-1]
    most = max([max(peak, predicted) for _, peak, predicted in bars] + [1.0])
    for y, (_, peak, predicted) in zip(place, bars):
        axes.barh(y, peak, height=0.5, color=GREEN)
        axes.plot([predicted, predicted], [y - 0.42, y + 0.42], color=INK, linewidth=1.6)
        axes.annotate(f"{size(peak)}, predicted {size(predicted)}", (max(peak, predicted), y), xytext=(6, 0),
                      textcoords="offset points", va="center", fontsize=9, color=INK)
    axes.set_yticks(place, [name for name, _, _ in bars])
    axes.tick_params(axis="y", labelcolor=INK)
    axes.set_ylim(-0.6, len(bars) - 0.4)
    axes.set_xlim(0, 1.7 * most)
    axes.spines[["bottom"]].set_visible(False)
    axes.xaxis.set_visible(False)


def changes_of(result):
    """(iterations done before, name of the preconditioner) of a result."""
    return [(choice.first_iteration, choice.description.split(", because ")[0]) for choice in
            getattr(result, "preconditioners", None) or []]


def phases_of(result):
    """(name, mean, slowest) without the whole."""
    phases = getattr(result, "phases", None)
    if phases is not None:
        return [(name, value, value) for name, value in phases.items()]
    return [(phase.name, phase.mean, phase.slowest) for phase in getattr(result, "times", None) or []
            if phase.name != "all"]


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
    config, attained, rhs_norms = (getattr(result, name, None) for name in ("config", "attained_tolerances", "rhs_norms"))
    if attained is not None:
        tolerance = tolerance_of(config, "eigensolver")
        return None if tolerance is None else limits_of_pairs(result.residual_norms, attained, tolerance)
    tolerance = tolerance_of(config, "linear_solver")
    return None if tolerance is None or rhs_norms is None else limits_of_solutions(rhs_norms, tolerance)


def draw_convergence(axes, result, span=None):
    history = getattr(result, "history", None)
    if history is None or len(history.residual_norms) == 0:
        axes.annotate("no iterations: solved densely, or no history", (0.5, 0.5), xycoords="axes fraction", ha="center",
                      color=MUTED)
        axes.set_axis_off()
        return
    plot_convergence(axes, history.residual_norms, limits_of(result), status=getattr(result, "status", None),
                     in_float=getattr(history, "in_float", None), changes=changes_of(result), span=span,
                     what="pair" if getattr(result, "eigenvalues", None) is not None else "right-hand side")


def draw_accuracy(axes, result):
    """The spectrum of an eigensolve; the residuals of a linear one."""
    if getattr(result, "eigenvalues", None) is not None:
        status = getattr(result, "status", None)
        plot_spectrum(axes, result.eigenvalues, getattr(result, "error_bounds", None),
                      None if status is None else np.asarray(status) != "not_converged")
        return
    plot_solutions(axes, result.rhs_norms, result.residual_norms, getattr(result, "recursive_residual_norms", None),
                   getattr(result, "requested_tolerance", None))


def plot_run(result, axes=None):
    """Convergence, the spectrum (or the residuals of a linear solve) and where the time went, side by side.

    `axes`: three axes, of which the last ones may be missing; one may be given as it is. Returns the figure."""
    from matplotlib import pyplot
    with styled() if axes is None else contextlib.nullcontext():
        if axes is None:
            figure, axes = pyplot.subplots(1, 3, figsize=(13, 3.9), width_ratios=[1.5, 1, 1], layout="constrained")
        axes = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
        drawn = [("Convergence", draw_convergence), ("Spectrum", draw_accuracy),
                 ("Time", lambda place, run: plot_times(place, phases_of(run)))]
        if getattr(result, "eigenvalues", None) is None:
            drawn[1] = ("Residuals", draw_accuracy)
        for place, (title, draw) in zip(axes, drawn):
            draw(place, result)
            place.set_title(title, pad=18)
        return axes[0].figure
