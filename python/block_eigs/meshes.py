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
        Shapes; a triangle without area or with a point that is not there; a point of no triangle.
    """
    points, triangles = np.asarray(points, dtype=np.float64), np.asarray(triangles)
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise ValueError(f"points must be of shape (n, 2) or (n, 3), not {points.shape}")
    if triangles.ndim != 2 or triangles.shape[1] != 3 or triangles.dtype.kind not in "iu":
        raise ValueError(f"triangles must be integers of shape (m, 3), not {triangles.dtype} of {triangles.shape}")
    n = len(points)
    if triangles.size and not (0 <= triangles.min() and triangles.max() < n):
        raise ValueError(f"triangles name points {triangles.min()} to {triangles.max()}, but there are 0 to {n - 1}")
    used = np.zeros(n, dtype=bool)
    used[triangles] = True
    if not used.all():
        raise ValueError(f"point {np.flatnonzero(~used)[0]} is of no triangle, which makes M singular; leave it out")

    corners = points[triangles]
    # Edge i is opposite to corner i; the integral of grad u_i . grad u_j is edge_i . edge_j / (4 area).
    edges = np.roll(corners, 1, axis=1) - np.roll(corners, -1, axis=1)
    dots = np.einsum("tid,tjd->tij", edges, edges)
    areas = 0.5 * np.sqrt(np.maximum(dots[:, 0, 0] * dots[:, 1, 1] - dots[:, 0, 1] ** 2, 0.0))
    if not (areas > 0).all():
        raise ValueError(f"triangle {np.flatnonzero(~(areas > 0))[0]} has no area")
    local_k = dots / (4 * areas[:, None, None])
    local_m = areas[:, None, None] * (np.eye(3) + 1) / 12
    rows = np.repeat(triangles, 3, axis=1).ravel()
    columns = np.tile(triangles, 3).ravel()
    return tuple(
        sp.coo_matrix((local.ravel(), (rows, columns)), shape=(n, n)).tocsr() for local in (local_k, local_m)
    )
