#!/usr/bin/env python3
"""An electron in six quantum wells on a ring: the levels of benzene, one, two, two, one.

-1/2 Laplacian + V on a square, V a sum of six wells. The bound states are the negative eigenvalues of an indefinite matrix;
rotating the ring by a sixth leaves it as it is, which makes the second and the third level double, as in Hueckel's model.

    python docs/gallery/quantum_wells.py [--small] [-o quantum_wells.png]
"""

import argparse

import numpy as np
import scipy.sparse as sp
from block_eigs import eigsh

HALF_WIDTH, RADIUS, DEPTH, SPREAD = 7.0, 2.6, 5.0, 0.7


def potential(x, y):
    angles = np.arange(6) * np.pi / 3
    return -DEPTH * sum(
        np.exp(-((x - RADIUS * np.cos(t)) ** 2 + (y - RADIUS * np.sin(t)) ** 2) / (2 * SPREAD**2)) for t in angles
    )


def hamiltonian(points):
    """On `points` x `points` lattice points, fourth-order differences."""
    axis = np.linspace(-HALF_WIDTH, HALF_WIDTH, points + 2)[1:-1]
    x, y = np.meshgrid(axis, axis, indexing="ij")
    h = axis[1] - axis[0]
    line = sp.diags([1.0, -16.0, 30.0, -16.0, 1.0], [-2, -1, 0, 1, 2], shape=(points, points)) / (12 * h * h)
    return (0.5 * sp.kronsum(line, line) + sp.diags(potential(x, y).ravel())).tocsr(), axis


def main(small=False, output=None):
    a, axis = hamiltonian(60 if small else 240)
    w, v = eigsh(a, k=6, which="SA")
    gaps = np.diff(w)
    print("levels:", np.array2string(w, precision=6), "; inside the doublets", f"{gaps[1]:.1e} {gaps[3]:.1e}")
    if output:
        draw(w, v, axis, output)
    return w, v, a


def draw(w, v, axis, output):
    from block_eigs.pictures import styled
    from block_eigs.style import BLUE, MUTED
    from matplotlib.figure import Figure

    with styled():
        figure = Figure(figsize=(11, 4.6), layout="constrained", dpi=110)
        left, right = figure.subfigures(1, 2, width_ratios=[1, 3.1])
        levels = left.subplots()
        for j, value in enumerate(w):
            twin = 0.0 if j in (0, 5) else (-0.3 if j % 2 else 0.3)
            levels.plot([twin - 0.22, twin + 0.22], [value, value], color=BLUE, linewidth=2.5, solid_capstyle="round")
            levels.annotate(
                f"{value:.4f}",
                (twin, value),
                xytext=(0, 5),
                textcoords="offset points",
                ha="center",
                fontsize=8.5,
                color=MUTED,
            )
        levels.set(xlim=(-0.75, 0.75), ylabel="energy", title="Levels")
        levels.margins(y=0.12)
        levels.set_xticks([])
        for j, place in enumerate(right.subplots(2, 3).ravel()):
            picture = v[:, j].reshape(axis.size, axis.size)
            most = abs(picture).max()
            place.imshow(
                picture.T,
                origin="lower",
                cmap="PuOr",
                vmin=-most,
                vmax=most,
                interpolation="bilinear",
                extent=2 * (axis[0], axis[-1]),
            )
            x, y = np.meshgrid(axis, axis, indexing="ij")
            place.contour(axis, axis, potential(x, y).T, [-0.5 * DEPTH], colors=MUTED, linewidths=0.8)
            place.set(xlim=(-5, 5), ylim=(-5, 5))
            place.set_title(f"state {j + 1}", fontweight="normal", fontsize=9.5, loc="center")
            place.set_axis_off()
        figure.savefig(output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--small", action="store_true", help="a coarse lattice")
    parser.add_argument("-o", "--output", default="quantum_wells.png")
    options = parser.parse_args()
    main(options.small, options.output)
