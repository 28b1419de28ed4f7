#!/usr/bin/env python3
"""Many right-hand sides: what 24 electrodes on a body see of what is inside.

A current enters a body at one electrode after the other, and leaves to ground through the contacts of all of them: one
linear system with 24 right-hand sides. The voltages at the electrodes make a symmetric matrix, because it makes no difference
which of two electrodes drives the current and which listens (reciprocity).

    python docs/gallery/electrodes.py [--small] [-o electrodes.png]
"""

import argparse

import numpy as np
import scipy.sparse as sp
from block_eigs import solve

ELECTRODES, CONTACT = 24, 0.5


def body(points):
    """A disc with two lungs that conduct badly and a heart that conducts well; the conductivity, 0 outside."""
    axis = np.linspace(-1, 1, points)
    x, y = np.meshgrid(axis, axis, indexing="ij")
    conductivity = np.where(x**2 + y**2 < 0.98, 1.0, 0.0)
    for sign in (-1, 1):
        conductivity[((x - 0.42 * sign) / 0.27) ** 2 + ((y + 0.05) / 0.5) ** 2 < 1] = 0.15
    conductivity[(x + 0.08) ** 2 + (y - 0.45) ** 2 < 0.05] = 4.0
    return conductivity


def finite_volumes(conductivity):
    """Conductances between neighbouring cells (harmonic means) as a matrix on the cells of the body, and their numbers."""
    inside = conductivity > 0
    number = np.where(inside, np.cumsum(inside).reshape(inside.shape) - 1, -1)
    n = int(inside.sum())
    a = sp.csr_matrix((n, n))
    for axis in (0, 1):
        one = [slice(None), slice(None)]
        other = list(one)
        one[axis], other[axis] = slice(None, -1), slice(1, None)
        s, t = conductivity[tuple(one)], conductivity[tuple(other)]
        joined = (s > 0) & (t > 0)
        g = 2 * s[joined] * t[joined] / (s[joined] + t[joined])
        i, j = number[tuple(one)][joined], number[tuple(other)][joined]
        edges = sp.coo_matrix((g, (i, j)), shape=(n, n))
        a = a - edges - edges.T + sp.diags(np.bincount(i, g, n) + np.bincount(j, g, n))
    return a.tocsr(), number


def electrodes(number):
    """Of every electrode the cells that it touches: those at the rim within its angle. Columns add up to one."""
    points = number.shape[0]
    axis = np.linspace(-1, 1, points)
    x, y = np.meshgrid(axis, axis, indexing="ij")
    padded = np.pad(number >= 0, 1)
    rim = (number >= 0) & ~(padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:])
    angle = np.arctan2(y, x)
    touched = []
    for k in range(ELECTRODES):
        away = np.angle(np.exp(1j * (angle - 2 * np.pi * (k + 0.5) / ELECTRODES)))
        touched.append(number[rim & (abs(away) < 0.3 * 2 * np.pi / ELECTRODES)])
    columns = np.repeat(np.arange(ELECTRODES), [cells.size for cells in touched])
    weights = np.concatenate([np.full(cells.size, 1 / cells.size) for cells in touched])
    return sp.coo_matrix((weights, (np.concatenate(touched), columns)), shape=(number.max() + 1, ELECTRODES)).tocsc()


def main(small=False, output=None):
    conductivity = body(50 if small else 200)
    a, number = finite_volumes(conductivity)
    f = electrodes(number)
    a = a + CONTACT * sp.diags(np.asarray(f.sum(axis=1)).ravel())  # to ground, so that A is definite
    answer = solve(a.tocsr(), f.toarray(), tol=1e-10, preconditioner="amg")
    x = getattr(answer, "x", answer)
    seen = f.T @ x
    print(
        f"{a.shape[0]} unknowns, {ELECTRODES} right-hand sides; reciprocity to {abs(seen - seen.T).max() / abs(seen).max():.1e}"
    )
    if output:
        draw(conductivity, number, x, seen, output)
    return a, f, x, seen


def draw(conductivity, number, x, seen, output):
    from block_eigs.pictures import styled
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure

    levels = np.geomspace(np.percentile(x, 1), x.max(), 28)
    with styled():
        figure = Figure(figsize=(11, 3.3), layout="constrained", dpi=110)
        axes = figure.subplots(1, 4)
        axes[0].imshow(
            np.where(number >= 0, np.log(np.maximum(conductivity, 1e-9)), np.nan).T, origin="lower", cmap="cividis"
        )
        axes[0].set_title("Conductivity")
        for place, k in zip(axes[1:3], (0, 7)):
            picture = np.full(number.shape, np.nan)
            picture[number >= 0] = x[:, k]
            place.contourf(picture.T, levels, norm=LogNorm(), cmap="viridis", extend="min")
            place.contour(picture.T, levels, colors="#fefefe", linewidths=0.3)
            place.set_title(f"Voltage, electrode {k + 1} drives")
            place.margins(0.02)
        for place in axes[:3]:
            place.set_aspect("equal")
            place.set_axis_off()
        axes[3].imshow(seen, norm=LogNorm(), cmap="viridis", extent=2 * (0.5, ELECTRODES + 0.5), origin="lower")
        axes[3].set(title="What electrodes see", xlabel="drives", ylabel="listens")
        figure.savefig(output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--small", action="store_true", help="a coarse body")
    parser.add_argument("-o", "--output", default="electrodes.png")
    options = parser.parse_args()
    main(options.small, options.output)
