"""The figures of Yang, Buluc, Owens (2018) from `bench_spmm --paper`, for scripts/plot-spmm."""

import math
import os
import pathlib
import sys

import matplotlib
from matplotlib.figure import Figure

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python" / "block_eigs"))
import style  # noqa: E402

COLOURS = {
    "row-split": style.SKY,
    "merge": style.GREEN,
    "auto": style.INK,
    "cuSPARSE": style.ORANGE,
    "cuBLAS": style.RED,
}
KEYS = {"row-split": "row_split_us", "merge": "merge_us", "auto": "auto_us", "cuSPARSE": "peer_us"}


def save(figure, folder, name):
    path = os.path.join(folder, name)
    figure.savefig(path, dpi=110)
    print(path)


def gflops(row, key):
    """Useful arithmetic over time; nothing where that was not measured."""
    return 2e-3 * row["nonzeros"] * row["n"] / row[key] if row[key] > 0 else math.nan


def single(folder, name, size, draw):
    with matplotlib.rc_context(style.RC):
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        draw(axes)
        if axes.get_legend_handles_labels()[0]:
            axes.legend()
        save(figure, folder, name)


def plot_aspect(rows, folder):
    rows = sorted(rows, key=lambda row: row["rows"])

    def draw(axes):
        for name, key in KEYS.items():
            axes.semilogx(
                [row["rows"] for row in rows],
                [gflops(row, key) for row in rows],
                base=2,
                marker="o",
                linestyle="--" if name == "auto" else "-",
                color=COLOURS[name],
                label=name,
            )
        axes.set(
            xlabel="rows of a dense matrix of $2^{24}$ elements in CSR",
            ylabel="GFLOP/s",
            ylim=(0, None),
            title=f"Aspect ratio, {rows[0]['precision']}, {rows[0]['n']:.0f} columns",
        )

    single(folder, "aspect.png", (7, 4), draw)


def plot_bars(rows, folder, name, title):
    def draw(axes):
        for i, (label, key) in enumerate(KEYS.items()):
            axes.bar(
                [k + 0.2 * (i - 1.5) for k in range(len(rows))],
                [gflops(row, key) for row in rows],
                width=0.2,
                color=COLOURS[label],
                label=label,
            )
        axes.set_xticks(range(len(rows)), [row["matrix"] for row in rows], rotation=35, ha="right")
        axes.set(ylabel="GFLOP/s", title=title)

    single(folder, name, (8, 4.5), draw)


def plot_collection(rows, folder):
    mean = [row["nonzeros"] / row["rows"] for row in rows]
    chosen = [row["peer_us"] / row["auto_us"] for row in rows]

    def draw(axes):
        for name in ("row-split", "merge"):
            axes.loglog(mean, [row["peer_us"] / row[KEYS[name]] for row in rows], "o", color=COLOURS[name], label=name)
        axes.loglog(mean, chosen, "o", mfc="none", ms=11, color=COLOURS["auto"], label="the rule's choice")
        for x, ratio, row in zip(mean, chosen, rows):
            axes.annotate(
                f"{row['matrix']} {ratio:.2f}",
                (x, ratio),
                xytext=(8, -3),
                textcoords="offset points",
                fontsize=7,
                color=style.MUTED,
            )
        axes.axhline(1, color=style.MUTED, linewidth=1)
        right = sum(row["auto_us"] <= 1.03 * min(row["row_split_us"], row["merge_us"]) for row in rows)
        axes.set(
            xlabel="mean row length",
            ylabel="cuSPARSE's best over ours",
            title=f"Collection: the rule is within 3% of the faster algorithm in {right} of {len(rows)}",
        )

    single(folder, "collection.png", (8, 5), draw)


def plot_fill(rows, folder):
    rows = sorted(rows, key=lambda row: row["nonzeros"])
    fill = [100 * row["nonzeros"] / row["rows"] / row["columns"] for row in rows]

    def draw(axes):
        for name in ("auto", "cuSPARSE"):
            axes.loglog(
                fill, [1e-3 * row[KEYS[name]] for row in rows], "o-", color=COLOURS[name], label=f"SpMM, {name}"
            )
        axes.loglog(
            fill, [1e-3 * row["dense_us"] for row in rows], "s--", color=COLOURS["cuBLAS"], label="GEMM, cuBLAS"
        )
        for x, row in zip(fill, rows):
            axes.annotate(
                f"{row['dense_us'] / row['auto_us']:.2f}",
                (x, 1e-3 * row["auto_us"]),
                xytext=(0, -12),
                fontsize=7.5,
                textcoords="offset points",
                ha="center",
                color=style.MUTED,
            )
        axes.set(
            xlabel="fill in %",
            ylabel="ms",
            title=f"{rows[0]['rows']:.0f} x {rows[0]['columns']:.0f} matrix times "
            f"{rows[0]['n']:.0f} columns, {rows[0]['precision']}; below ours: GEMM's time over it",
        )

    single(folder, "fill.png", (7, 4), draw)
