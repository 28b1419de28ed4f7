"""Problems of scripts/side-by-side: A, M or None, pairs wanted, a point below the spectrum."""

import numpy as np
import scipy.sparse as sp


def cube(n):
    line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
    return sp.kronsum(sp.kronsum(line, line), line, format="csr")


def laplacian48():
    return cube(48), None, 16, -1e-3


def laplacian100():
    return cube(100), None, 8, -1e-4


def fem_pencil():
    """P1 elements on a square of 245 x 245 inner nodes: stiffness and consistent mass."""
    n = 245
    ones, line = np.ones(n), sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
    stiffness = sp.kronsum(line, line, format="csr")
    up = sp.diags([ones[1:]], [1], shape=(n, n))
    neighbours = sp.kron(sp.identity(n), up) + sp.kron(up, sp.identity(n)) + sp.kron(up, up)
    mass = (6 * sp.identity(n * n) + neighbours + neighbours.T) / (12.0 * (n + 1) ** 2)
    return stiffness, sp.csr_matrix(mass), 20, -1.0


def nearest(x, count):
    """Of every point the `count` nearest, itself first: by a tree, or all distances on the GPU with PyTorch."""
    try:
        import torch

        on_gpu = torch.cuda.is_available()
    except ImportError:
        on_gpu = False
    if not on_gpu:
        from scipy.spatial import cKDTree

        return cKDTree(x).query(x, count, workers=-1)[1]
    points = torch.as_tensor(x, dtype=torch.float32, device="cuda")
    squares = (points**2).sum(1)
    parts = points.split(2000)
    return torch.cat([(squares - 2 * part @ points.T).topk(count, largest=False)[1] for part in parts]).cpu().numpy()


def neighbours_graph(points):
    """Laplacian of the symmetric graph of 15 nearest neighbours of uniform points in ten dimensions."""
    indices = nearest(np.random.default_rng(0).uniform(size=(points, 10)), 16)
    rows = np.repeat(np.arange(points), 15)
    w = sp.csr_matrix((np.ones(rows.size), (rows, indices[:, 1:].ravel())), shape=(points, points))
    w = w.maximum(w.T)
    return sp.csr_matrix(sp.diags(np.asarray(w.sum(1)).ravel()) - w), None, 20, -1e-2


def knn20000():
    return neighbours_graph(20000)


def knn1000000():
    return neighbours_graph(1000000)


def hamiltonian():
    """-1/2 Laplacian of 40^3 points with a well: negative eigenvalues."""
    n, h = 40, 0.25
    at = (np.arange(n) - (n - 1) / 2) * h
    x, y, z = np.meshgrid(at, at, at, indexing="ij")
    well = -8.0 * np.exp(-(x**2 + 1.3 * y**2 + 1.7 * z**2) / 4)
    return sp.csr_matrix(0.5 / h**2 * cube(n) + sp.diags(well.ravel())), None, 16, -8.5


PROBLEMS = {
    f.__name__: f for f in (laplacian48, laplacian100, fem_pencil, knn20000, knn1000000, hamiltonian)
}
