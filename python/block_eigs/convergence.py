"""The picture of residuals over iterations."""

import matplotlib
import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from block_eigs.style import BAND, INK, MUTED, ORANGE, PURPLE, RED, SURFACE, power_of_ten, ramp

__all__ = ["finite_range", "log_axis", "plot_convergence", "span_of"]


def log_axis(axis, low, high, most=7):
    """A logarithmic axis with a label every whole number of decades, without minor ticks."""
    low, high = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
    step = max(1, -(-(high - low) // most))
    exponents = range(-(-low // step) * step, high + 1, step)
    axis.set_major_locator(FixedLocator([10.0**e for e in exponents]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: power_of_ten(round(np.log10(value))) if value > 0 else ""))
    axis.set_minor_locator(NullLocator())


def finite_range(values):
    values = values[np.isfinite(values) & (values > 0)]
    return (values.min(), values.max()) if values.size else (1e-1, 1.0)


def _course(ratios):
    """How far the curve of a pair goes: the first and the last iteration that it was at work in."""
    known = np.flatnonzero(np.isfinite(ratios))
    if known.size == 0:
        return None
    changes = np.flatnonzero(np.diff(ratios[known]) != 0)
    return known[0], known[changes[-1] + 1] if changes.size else known[0]


def plot_convergence(
    axes, residual_norms, limits=None, *, status=None, in_float=None, changes=(), what="pair", span=None
):
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
        axes.annotate(
            "goal",
            (0.0, 1.0),
            xycoords=("axes fraction", "data"),
            xytext=(4, -4),
            va="top",
            textcoords="offset points",
            fontsize=8.5,
            color=INK,
        )
    steps = np.arange(1, iterations + 1)
    for j, colour in enumerate(ramp(pairs)):
        course = _course(ratios[:, j])
        if course is None:
            continue
        first, last = course
        axes.plot(
            steps[first : last + 1],
            ratios[first : last + 1, j],
            color=colour,
            linewidth=1.3 if pairs <= 40 else 0.8,
            solid_joinstyle="round",
        )
        marker, size_, end = _end_mark(
            ratios[last:, j], None if status is None else status[j : j + 1], limits is not None
        )
        axes.plot(
            steps[last],
            ratios[last, j],
            marker=marker,
            markersize=size_,
            color=end or colour,
            markeredgecolor=SURFACE,
            markeredgewidth=0.5,
            zorder=3,
        )
    _mark_changes(axes, changes, iterations)
    log_axis(axes.yaxis, low, high)
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
    low, high = finite_range(_ratios(np.asarray(residual_norms, float), limits))
    return (low, high) if limits is None else (min(low, 0.1), max(high, 10.0))


def _end_mark(ratios, status, with_goal):
    """Marker, its size, and its colour where that is not the curve's."""
    word = None if status is None else (list(status) or ["not_converged"])[0]  # not even found
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
    inside = {
        "xycoords": ("data", "axes fraction"),
        "textcoords": "offset points",
        "fontsize": 8.5,
        "color": MUTED,
        "va": "top",
    }
    begin, end = edges[0], edges[-1]
    axes.annotate("float", (begin + 0.5, 1.0), xytext=(4, -3), **inside)
    if end < iterations:
        axes.annotate("double", (end + 0.5, 1.0), xytext=(4, -3), **inside)


def _mark_changes(axes, changes, iterations):
    changes = [(first, label) for first, label in changes if 0 < first < iterations]
    for row, (first, label) in enumerate(changes):
        axes.axvline(first + 0.5, color=PURPLE, linewidth=1.0, linestyle=(0, (4, 2)), zorder=1.4)
        right = first > 0.6 * iterations
        axes.annotate(
            label,
            (first + 0.5, 1.0),
            xycoords=("data", "axes fraction"),
            color=PURPLE,
            fontsize=8.5,
            xytext=(-4 if right else 4, -15 - 11 * (row % 3)),
            textcoords="offset points",
            ha="right" if right else "left",
            va="top",
        )


def _ramp_legend(axes, pairs, what):
    """pair 1 ▪▪▪▪▪ 16, above the picture on the right."""
    if pairs < 2:
        return
    colours = list(dict.fromkeys(ramp(min(pairs, 8))))
    width, x = 0.016, 1.0 - 0.012 * (len(str(pairs)) + 0.4)
    axes.annotate(
        f"{pairs}",
        (1.0, 1.0),
        xycoords="axes fraction",
        xytext=(0, 6),
        textcoords="offset points",
        ha="right",
        fontsize=8.5,
        color=MUTED,
    )
    for k, colour in enumerate(reversed(colours)):
        axes.add_patch(
            matplotlib.patches.Rectangle(
                (x - (k + 1) * width, 1.025),
                width * 0.9,
                0.022,
                clip_on=False,
                transform=axes.transAxes,
                color=colour,
                linewidth=0,
            )
        )
    axes.annotate(
        f"{what} 1",
        (x - len(colours) * width - 0.006, 1.0),
        xycoords="axes fraction",
        xytext=(0, 6),
        textcoords="offset points",
        ha="right",
        fontsize=8.5,
        color=MUTED,
    )
