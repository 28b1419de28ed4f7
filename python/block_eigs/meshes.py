"""Matrices of surfaces."""

import numpy as np
import scipy.sparse as sp


def cotangent_laplacian(points, triangles):
    """K and M of a triangle mesh, for the Laplace-Beltrami operator: K x = w M x.

    Linear finite elements on the triangles (Pinkall, Polthier, Experimental Mathematics 2 (1993); Dziuk, 1988): K has
    -(cot a + cot b) / 2 for an edge with a and b the angles opposite, and rows that sum to zero; M is the mass
    matrix, whose entries sum to the area. K is positive semidefinite, M positive definite if every point is of a
    triangle. Edges of a boundary are free (Neumann).

    Parameters
    ----------
    points : (n, 2) or (n, 3) array
        Their places.
    triangles : (m, 3) array of integers
        Points of each triangle, turning either way.

    Returns
    -------
    K, M : (n, n) CSR matrices

    Raises
    ------
    ValueError
        Shapes; no triangles; a triangle without area or with a point that is not there; a point of no triangle, or
        one whose coordinates are not finite.
    """
    points, triangles = np.asarray(points, dtype=np.float64), np.asarray(triangles)
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise ValueError(f"points must be of shape (n, 2) or (n, 3), not {points.shape}")
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        raise ValueError(f"point {np.flatnonzero(~finite)[0]} has a coordinate that is not finite")
    if triangles.size == 0:
        raise ValueError("there are no triangles, and a mesh has at least one")
    if triangles.ndim != 2 or triangles.shape[1] != 3 or triangles.dtype.kind not in "iu":
        raise ValueError(f"triangles must be integers of shape (m, 3), not {triangles.dtype} of {triangles.shape}")
    n = len(points)
    if not (0 <= triangles.min() and triangles.max() < n):
        raise ValueError(f"triangles name points {triangles.min()} to {triangles.max()}, but there are 0 to {n - 1}")
    used = np.zeros(n, dtype=bool)
    used[triangles] = True
    if not used.all():
        raise ValueError(f"point {np.flatnonzero(~used)[0]} is of no triangle, which makes M singular; leave it out")

    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        edges, exponents = _scaled_edges(points[triangles])
        scaled_areas = _areas(edges)
        areas = np.ldexp(scaled_areas, 2 * exponents)
    if (scaled_areas == 0).any():
        raise ValueError(f"triangle {np.flatnonzero(scaled_areas == 0)[0]} has no area")
    in_range = (areas >= np.finfo(float).tiny) & np.isfinite(areas)
    if not in_range.all():
        outside = np.flatnonzero(~in_range)[0]
        raise ValueError(f"the area of triangle {outside} is out of the range of double: multiply the points by a constant")
    # The integral of grad u_i . grad u_j, whatever the scale.
    local_k = np.einsum("tid,tjd->tij", edges, edges) / (4 * scaled_areas[:, None, None])
    local_m = areas[:, None, None] * (np.eye(3) + 1) / 12
    rows = np.repeat(triangles, 3, axis=1).ravel()
    columns = np.tile(triangles, 3).ravel()
    return tuple(
        sp.coo_matrix((local.ravel(), (rows, columns)), shape=(n, n)).tocsr() for local in (local_k, local_m)
    )


def _scaled_edges(corners):
    """Edge i of each triangle is opposite to its corner i; divided by two to a power, a triangle's own, which makes the
    largest coordinate one half to one, so that products are in range."""
    edges = np.roll(corners, 1, axis=1) - np.roll(corners, -1, axis=1)
    exponents = np.frexp(abs(edges).max(axis=(1, 2)))[1]
    return np.ldexp(edges, -exponents[:, None, None]), exponents


def _areas(edges):
    """By the cross product of the two shorter edges, which for needles is as exact as these are, and for flat triangles
    not much less."""
    each = np.arange(len(edges))
    longest = np.einsum("tid,tid->ti", edges, edges).argmax(axis=1)
    in_space = np.pad(edges, ((0, 0), (0, 0), (0, 3 - edges.shape[2])))
    one, other = (in_space[each, (longest + turn) % 3] for turn in (1, 2))
    return 0.5 * np.hypot.reduce(np.cross(one, other), axis=1)
