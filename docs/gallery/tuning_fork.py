#!/usr/bin/env python3
"""How a tuning fork vibrates: K x = (2 pi f)^2 M x, steel in trilinear hexahedra, its stem clamped.

python docs/gallery/tuning_fork.py [--small] [-o tuning_fork.png]
"""

import argparse

import numpy as np
import scipy.sparse as sp
from block_eigs import eigsh

YOUNG, POISSON, DENSITY = 2.07e11, 0.29, 7850.0  # steel, SI units
THICKNESS, GAP, PRONG, STEM = 0.005, 0.005, 0.0975, 0.03  # of prongs in x and y; between them; lengths in z
CORNERS = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)])


def voxels(across):
    """Which cells of a lattice are steel, `across` to the thickness of a prong; and the length of a cell's edge."""
    h = THICKNESS / across
    stem, prong = round(STEM / h), round(PRONG / h)
    filled = np.zeros((3 * across, across, stem + across + prong), bool)
    filled[across : 2 * across, :, :stem] = True  # the stem
    filled[:, :, stem : stem + across] = True  # the yoke
    filled[:across, :, stem + across :] = True  # the prongs
    filled[2 * across :, :, stem + across :] = True
    return filled, h


def element_matrices(h):
    """Stiffness and mass of a cube of edge h, 24 x 24, by Gauss's rule; unknowns node after node."""
    lame, shear = YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON)), YOUNG / (2 * (1 + POISSON))
    elasticity = np.zeros((6, 6))
    elasticity[:3, :3] = lame
    elasticity += np.diag([2 * shear] * 3 + [shear] * 3)
    k, m = np.zeros((24, 24)), np.zeros((8, 8))
    rule = 0.5 + np.array([-1, 1]) / (2 * np.sqrt(3))
    for point in np.array(np.meshgrid(rule, rule, rule)).reshape(3, 8).T:
        factors = np.where(CORNERS == 1, point, 1 - point)  # of every shape function, a direction each
        slopes = np.where(CORNERS == 1, 1.0, -1.0) / h
        gradient = np.stack([slopes[:, d] * np.prod(np.delete(factors, d, 1), axis=1) for d in range(3)])
        strain = np.zeros((6, 24))
        for d in range(3):
            strain[d, d::3] = gradient[d]
        for row, (a, b) in enumerate([(1, 2), (0, 2), (0, 1)], start=3):
            strain[row, a::3], strain[row, b::3] = gradient[b], gradient[a]
        k += strain.T @ elasticity @ strain * h**3 / 8
        shape = factors.prod(axis=1)
        m += DENSITY * np.outer(shape, shape) * h**3 / 8
    return k, np.kron(m, np.eye(3))


def assemble(filled, h):
    """K, M without the clamped nodes, the places of the others, and the nodes of the cells (clamped ones: -1)."""
    nx, ny, nz = (n + 1 for n in filled.shape)
    cells = np.argwhere(filled)
    corners = cells[:, None, :] + CORNERS
    number = (corners[..., 2] * ny + corners[..., 1]) * nx + corners[..., 0]
    used, number = np.unique(number, return_inverse=True)
    number = number.reshape(-1, 8)
    places = h * np.column_stack([used % nx, used // nx % ny, used // (nx * ny)])
    unknowns = (3 * number[..., None] + np.arange(3)).reshape(-1, 24)
    rows, cols = np.repeat(unknowns, 24, axis=1).ravel(), np.tile(unknowns, (1, 24)).ravel()
    free = np.repeat(places[:, 2] > 1e-9, 3)
    matrices = []
    for element in element_matrices(h):
        whole = sp.coo_matrix((np.tile(element.ravel(), len(cells)), (rows, cols)), shape=2 * (3 * len(used),)).tocsr()
        part = whole[free][:, free]
        matrices.append((part + part.T) / 2)
    return (*matrices, places, number, free)


def main(small=False, output=None):
    filled, h = voxels(1 if small else 3)
    k, m, places, number, free = assemble(filled, h)
    w, v = eigsh(k, k=4 if small else 8, M=m, which="SA", coordinates=places[free[::3]])
    hertz = np.sqrt(w) / (2 * np.pi)
    # Of one prong, clamped where the yoke begins, by the theory of slender beams.
    slender = 1.8751**2 / (2 * np.pi) * np.sqrt(YOUNG / (12 * DENSITY)) * THICKNESS / PRONG**2
    print(
        f"{k.shape[0]} unknowns; Hz:",
        np.array2string(hertz, precision=1),
        f"; a prong alone as a slender beam {slender:.1f}",
    )
    if output:
        draw(hertz, v, places, number, free, filled, output)
    return hertz, slender, k, m, w, v


def draw(hertz, v, places, number, free, filled, output, shown=6):
    from block_eigs.pictures import styled
    from matplotlib import colormaps
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure

    faces = surface(filled, number)
    with styled():
        figure = Figure(figsize=(11, 5.4), layout="constrained", dpi=100)
        figure.suptitle(
            "A tuning fork: how far parts move, from none (dark) to most (light)", x=0.01, ha="left", fontweight="bold"
        )
        for j, axes in enumerate(figure.subplots(1, min(shown, len(hertz)), sharex=True, sharey=True)):
            moved = np.zeros(places.size)
            moved[free] = v[:, j]
            moved = moved.reshape(-1, 3)
            size = np.linalg.norm(moved, axis=1) / np.linalg.norm(moved, axis=1).max()
            flat, depth, light = seen(places + 0.014 * moved / abs(moved).max(), faces)
            order = np.argsort(-depth)
            colours = colormaps["viridis"](0.05 + 0.9 * size[faces].mean(axis=1))
            colours[:, :3] *= light[:, None]
            still, far, _ = seen(places, faces)
            for polygons, paint in ((still[np.argsort(-far)], "#e4e8ed"), (flat[order], colours[order])):
                axes.add_collection(PolyCollection(polygons, facecolors=paint, edgecolors="face", linewidths=0.3))
            axes.set(aspect="equal")
            axes.autoscale_view()
            axes.set_axis_off()
            axes.set_title(f"{hertz[j]:.0f} Hz", fontweight="normal", loc="center")
        figure.savefig(output)


def seen(places, faces, turn=np.radians(28), tilt=np.radians(14)):
    """Corners of faces on paper, how far away they are, and how bright."""
    x, y, z = places.T
    across, away = x * np.cos(turn) - y * np.sin(turn), x * np.sin(turn) + y * np.cos(turn)
    flat = np.column_stack([across, z * np.cos(tilt) + away * np.sin(tilt)])
    depth = away * np.cos(tilt) - z * np.sin(tilt)
    corners = places[faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 3] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    light = 0.72 + 0.28 * abs(normal @ np.array([0.35, -0.85, 0.4])) / np.linalg.norm([0.35, 0.85, 0.4])
    return flat[faces], depth[faces].mean(axis=1), light


def surface(filled, number):
    """The faces of cells that no other cell covers, as four nodes each."""
    padded = np.pad(filled, 1)
    cells = np.argwhere(filled)
    faces = []
    for axis in range(3):
        for side in (0, 1):
            step = np.zeros(3, int)
            step[axis] = 2 * side - 1
            open_ = ~padded[tuple((cells + 1 + step).T)]
            corners = np.flatnonzero(CORNERS[:, axis] == side)
            faces.append(number[open_][:, corners[[0, 1, 3, 2]]])
    return np.concatenate(faces)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--small", action="store_true", help="coarse elements")
    parser.add_argument("-o", "--output", default="tuning_fork.png")
    options = parser.parse_args()
    main(options.small, options.output)
