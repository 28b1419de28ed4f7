"""Pictures of where time and memory went."""

import numpy as np

from block_eigs.style import BLUE, GREEN, INK, MUTED, ORANGE, SURFACE, seconds, size

__all__ = ["STAGE_COLOURS", "plot_memory", "plot_stages", "plot_times"]

STAGE_COLOURS = [BLUE, ORANGE, GREEN, MUTED]


def plot_stages(axes, stages):
    """One bar for the whole run, with a part for each (name, seconds), coloured in the order of STAGE_COLOURS."""
    whole = sum(value for _, value in stages) or 1.0
    left = 0.0
    for (name, value), colour in zip(stages, STAGE_COLOURS):
        axes.barh(0, value, left=left, height=1.0, color=colour, edgecolor=SURFACE, linewidth=1.5)
        if value / whole > 0.1:
            axes.annotate(
                f"{100 * value / whole:.0f}%",
                (left + value / 2, 0),
                ha="center",
                va="center",
                fontsize=9.5,
                color=SURFACE,
            )
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
        axes.annotate(
            f"{seconds(mean)}  {100 * mean / whole:.0f}%" if mean >= 0.01 * whole else seconds(mean),
            (most, y),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
            color=INK,
        )
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
        axes.annotate(
            f"{size(peak)}, predicted {size(predicted)}",
            (max(peak, predicted), y),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
            color=INK,
        )
    axes.set_yticks(place, [name for name, _, _ in bars])
    axes.tick_params(axis="y", labelcolor=INK)
    axes.set_ylim(-0.6, len(bars) - 0.4)
    axes.set_xlim(0, 1.7 * most)
    axes.spines[["bottom"]].set_visible(False)
    axes.xaxis.set_visible(False)
