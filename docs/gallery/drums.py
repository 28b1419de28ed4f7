#!/usr/bin/env python3
"""Two drums of different shape that sound alike.

Gordon, Webb and Wolpert (1992) found two polygons whose Laplacians, zero at the rim, have the same eigenvalues. Here both
are cut from a square lattice: the finite-difference Laplacians are isospectral as well, to the last digits.

    python docs/gallery/drums.py [--small] [-o drums.png]
"""

import argparse

import numpy as np
import scipy.sparse as sp
from block_eigs import eigsh
from matplotlib.patches import Polygon
from matplotlib.path import Path

DRUMS = [
    [(0, 0), (0, 1), (2, 3), (2, 2), (3, 2), (2, 1), (1, 1), (1, 0)],
    [(1, 0), (0, 1), (0, 2), (2, 2), (2, 3), (3, 2), (2, 1), (1, 1)],
]


def membrane(corners, points):
    """The 5-point Laplacian on the lattice points inside a polygon, `points` to the unit; and which points these are."""
    axis = np.arange(3 * points + 1) / points
    x, y = np.meshgrid(axis, axis, indexing="ij")
    # A little inside, because points on the rim stand still.
    inside = Path(corners + corners[:1]).contains_points(np.column_stack([x.ravel(), y.ravel()]))
    inside &= ~on_rim(corners, x.ravel(), y.ravel())
    line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(axis.size, axis.size))
    a = points**2 * sp.kronsum(line, line, format="csr")
    return a[inside][:, inside], inside.reshape(x.shape)


def on_rim(corners, x, y):
    rim = np.zeros(x.size, bool)
    for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1]):
        across = (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)
        along = (x1 - x0) * (x - x0) + (y1 - y0) * (y - y0)
        rim |= (abs(across) < 1e-9) & (along > -1e-9) & (along < (x1 - x0) ** 2 + (y1 - y0) ** 2 + 1e-9)
    return rim


def main(small=False, output=None):
    points, modes = (16, 6) if small else (96, 10)
    found = []
    for corners in DRUMS:
        a, inside = membrane(corners, points)
        w, v = eigsh(a, k=modes, which="SA")
        found.append((w, v, inside))
    apart = np.abs(found[0][0] - found[1][0]).max() / found[0][0].max()
    print(f"{found[0][1].shape[0]} and {found[1][1].shape[0]} points; eigenvalues differ by {apart:.1e} of them")
    if output:
        draw(found, output)
    return found


def draw(found, output, shown=5):
    from block_eigs.pictures import styled
    from matplotlib.figure import Figure

    with styled():
        figure = Figure(figsize=(11, 5.1), layout="constrained", dpi=110)
        axes = figure.subplots(2, shown)
        for row, (corners, (w, v, inside)) in enumerate(zip(DRUMS, found)):
            for j in range(shown):
                picture = np.full(inside.shape, np.nan)
                picture[inside] = v[:, j] * np.sign(v[np.argmax(abs(v[:, j])), j])
                place, most = axes[row, j], np.nanmax(abs(picture))
                place.imshow(picture.T, origin="lower", extent=(0, 3, 0, 3), cmap="PuOr", vmin=-most, vmax=most)
                (
                    place.contour(
                        *np.meshgrid(*2 * [np.linspace(0, 3, inside.shape[0])]),
                        np.nan_to_num(picture).T,
                        [0.0],
                        colors="#5b6675",
                        linewidths=0.7,
                    )
                    if j
                    else None
                )
                place.add_patch(Polygon(corners, fill=False, edgecolor="#1c2430", linewidth=1.2))
                place.set_title(f"{w[j]:.9f}", fontweight="normal", fontsize=9.5, loc="center")
                place.set_axis_off()
        figure.suptitle(
            "Two drums, one spectrum: the first five modes and their eigenvalues", x=0.01, ha="left", fontweight="bold"
        )
        figure.savefig(output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--small", action="store_true", help="a coarse lattice")
    parser.add_argument("-o", "--output", default="drums.png")
    options = parser.parse_args()
    main(options.small, options.output)
