"""Pictures of what was found, and how accurate it is."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from block_eigs.convergence import finite_range, log_axis
from block_eigs.style import BLUE, INK, LINE, MUTED, ORANGE, RED, SURFACE

__all__ = ["multiplicities", "plot_bounds", "plot_solutions", "plot_spectrum"]


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
        axes.errorbar(
            index,
            eigenvalues,
            yerr=np.nan_to_num(error_bounds),
            fmt="none",
            ecolor=ORANGE,
            elinewidth=1.5,
            capsize=3,
            zorder=2,
        )
    if len(index) <= 60:
        for first, last in multiplicities(eigenvalues, error_bounds):
            axes.plot(
                index[[first, last]],
                eigenvalues[[first, last]],
                color=BLUE,
                linewidth=5,
                alpha=0.25,
                solid_capstyle="round",
                zorder=1.8,
            )
            axes.annotate(
                f"×{last - first + 1}",
                (index[last], eigenvalues[last]),
                xytext=(4, -9),
                textcoords="offset points",
                fontsize=8.5,
                color=MUTED,
            )
    axes.plot(
        index[done],
        eigenvalues[done],
        "o",
        color=BLUE,
        markersize=5 if len(index) <= 60 else 2.5,
        markeredgecolor=SURFACE,
        markeredgewidth=0.5,
        zorder=3,
    )
    axes.plot(
        index[~done],
        eigenvalues[~done],
        "X",
        color=RED,
        markersize=6.5,
        markeredgecolor=SURFACE,
        markeredgewidth=0.5,
        zorder=3,
    )
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
    low, high = finite_range(relative)
    axes.vlines(index, low / 10, relative, color=LINE, linewidth=1.2)
    axes.plot(index, relative, "D" if known else "o", color=ORANGE, markersize=4.5 if len(index) <= 60 else 2.5)
    axes.set_ylim(low / 5, high * 5)
    log_axis(axes.yaxis, low / 5, high * 5, most=6)
    axes.margins(x=0.04)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
    axes.set(
        xlabel="pair", ylabel="error bound ÷ |eigenvalue|" if known else "residual ÷ |eigenvalue| (no bound known)"
    )


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
    axes.plot(
        index, true, "o", color=BLUE, markersize=5, markeredgecolor=SURFACE, markeredgewidth=0.5, label="computed anew"
    )
    if tolerance:
        shown.append(np.array([tolerance]))
        axes.axhline(tolerance, color=INK, linewidth=1.1)
        axes.annotate(
            "goal",
            (1.0, tolerance),
            xycoords=("axes fraction", "data"),
            xytext=(-2, 4),
            ha="right",
            textcoords="offset points",
            fontsize=8.5,
        )
    low, high = finite_range(np.concatenate(shown))
    axes.set_ylim(low / 4, high * 8)
    log_axis(axes.yaxis, low / 4, high * 8, most=6)
    axes.margins(x=0.05)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
    axes.set(xlabel="right-hand side", ylabel="‖f − A x‖ ÷ ‖f‖")
    axes.legend(loc="upper left", ncols=2, bbox_to_anchor=(0, 1.13), borderaxespad=0, handletextpad=0.3)
