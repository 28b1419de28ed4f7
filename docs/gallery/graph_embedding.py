#!/usr/bin/env python3
"""A rolled-up sheet, unrolled: points in space are joined to their nearest neighbours, and the eigenvectors of the graph's
Laplacian next to the constant one are coordinates along the sheet (Belkin, Niyogi 2003).

    python docs/gallery/graph_embedding.py [--small] [-o graph_embedding.png]
"""

import argparse

import numpy as np
import scipy.sparse as sp
from block_eigs import eigsh
from scipy.spatial import cKDTree


def roll(points, seed=0):
    """Points of a Swiss roll, and how far along the sheet each lies."""
    rng = np.random.default_rng(seed)
    turn = 1.5 * np.pi * np.sqrt(1 + 8 * rng.random(points))  # evenly along the sheet
    width = 21 * rng.random(points)
    along = 0.5 * (turn * np.sqrt(1 + turn**2) + np.arcsinh(turn))
    return np.column_stack([turn * np.cos(turn), width, turn * np.sin(turn)]), along - along.min()


def graph_laplacian(points, neighbours):
    """Normalised: I - D^-1/2 W D^-1/2 of the graph in which a point is joined to its nearest, and to those whose nearest
    it is."""
    n = len(points)
    _, nearest = cKDTree(points).query(points, neighbours + 1)
    rows = np.repeat(np.arange(n), neighbours)
    w = sp.coo_matrix((np.ones(rows.size), (rows, nearest[:, 1:].ravel())), shape=(n, n)).tocsr()
    w = w.maximum(w.T)
    degree = np.asarray(w.sum(axis=1)).ravel()
    scale = sp.diags(1 / np.sqrt(degree))
    return (sp.eye(n) - scale @ w @ scale).tocsr(), degree


def main(small=False, output=None):
    points, along = roll(1500 if small else 20000)
    a, degree = graph_laplacian(points, 10)
    w, v = eigsh(a, k=6, which="SA")
    embedding = v / np.sqrt(degree)[:, None]
    ranks = [np.argsort(np.argsort(values)) for values in (embedding[:, 1], along)]
    order = abs(np.corrcoef(*ranks)[0, 1])
    print(
        "eigenvalues:",
        np.array2string(abs(w), precision=7, suppress_small=True),
        f"; order along the sheet kept: {order:.4f}",
    )
    if output:
        draw(points, along, embedding, output)
    return w, order, a, v


def draw(points, along, embedding, output):
    from block_eigs.pictures import styled
    from matplotlib.figure import Figure

    some = np.random.default_rng(1).permutation(len(points))[:8000]
    dots = {"c": along[some], "cmap": "viridis", "s": 3, "linewidths": 0}
    # The second direction of the sheet is the first vector that is no function of the first one.
    first = embedding[:, 1]
    spread = [
        1 - abs(np.corrcoef(np.polyval(np.polyfit(first, embedding[:, j], 6), first), embedding[:, j])[0, 1])
        for j in range(2, embedding.shape[1])
    ]
    second = embedding[:, 2 + int(np.argmax(np.array(spread) > 0.5))]
    with styled():
        figure = Figure(figsize=(11, 4.4), layout="constrained", dpi=100)
        left = figure.add_subplot(1, 2, 1, projection="3d")
        left.scatter(*points[some].T, **dots)
        left.view_init(12, -72)
        left.set_axis_off()
        left.set_box_aspect((1, 1.1, 1), zoom=1.25)
        left.set_title(f"{len(points):,} points in space")
        right = figure.add_subplot(1, 2, 2)
        right.scatter(first[some], second[some], **dots)
        right.set(
            title="The same points by two eigenvectors", xlabel="eigenvector 2", ylabel="the next across the sheet"
        )
        right.set_xticks([])
        right.set_yticks([])
        figure.savefig(output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--small", action="store_true", help="few points")
    parser.add_argument("-o", "--output", default="graph_embedding.png")
    options = parser.parse_args()
    main(options.small, options.output)
