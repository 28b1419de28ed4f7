"""spectral_embedding beside scikit-learn's own, which is run by ARPACK on the factorised Laplacian."""

import inspect
import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from block_eigs import spectral_embedding

manifold = pytest.importorskip("sklearn.manifold")
from sklearn.datasets import load_digits  # noqa: E402
from sklearn.neighbors import kneighbors_graph  # noqa: E402


def digits(rows=600):
    """scikit-learn's first example of such a graph, made symmetric as there."""
    x, _ = load_digits(return_X_y=True)
    graph = kneighbors_graph(x[:rows], n_neighbors=12, include_self=True)
    return 0.5 * (graph + graph.T)


def ring(n):
    """Eigenvalues are double but for the first: vectors are determined up to rotations in pairs."""
    next_one = sp.csr_matrix(np.roll(np.eye(n), 1, axis=1))
    return next_one + next_one.T


def both(graph, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return spectral_embedding(graph, **options), manifold.spectral_embedding(graph, random_state=0, **options)


def test_arguments_are_those_of_scikit_learn():
    theirs = inspect.signature(manifold.spectral_embedding).parameters
    ours = dict(inspect.signature(spectral_embedding).parameters)
    assert ours.pop("device").default == "auto"
    assert [(p.name, p.kind, p.default) for p in ours.values()] == [
        (p.name, p.kind, p.default) for p in theirs.values()
    ]


@pytest.mark.parametrize("drop_first", [True, False])
@pytest.mark.parametrize("norm_laplacian", [True, False])
def test_as_scikit_learn(norm_laplacian, drop_first):
    """Its signs too: the largest entry of a column is positive."""
    options = {"n_components": 5, "norm_laplacian": norm_laplacian, "drop_first": drop_first}
    ours, theirs = both(digits(), **options)
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, atol=1e-6 * abs(theirs).max())


@pytest.mark.parametrize("eigen_solver", ["arpack", "lobpcg", "amg"])
def test_solvers_by_name(eigen_solver):
    ours = spectral_embedding(digits(), n_components=3, eigen_solver=eigen_solver, random_state=3)
    theirs = manifold.spectral_embedding(digits(), n_components=3, random_state=3)
    np.testing.assert_allclose(ours, theirs, atol=1e-6 * abs(theirs).max())


@pytest.mark.parametrize("form", [np.asarray, sp.coo_matrix, sp.csc_matrix, sp.csr_array])
def test_forms(form):
    graph = digits(200)
    ours, theirs = both(form(graph.toarray()), n_components=3)
    np.testing.assert_allclose(ours, theirs, atol=1e-6 * abs(theirs).max())


def test_rotations_within_double_eigenvalues():
    ours, theirs = both(ring(101), n_components=6)
    for pair in (slice(0, 2), slice(2, 4), slice(4, 6)):
        assert scipy.linalg.subspace_angles(ours[:, pair], theirs[:, pair]).max() < 1e-6


def test_single_precision():
    graph = digits().astype(np.float32)
    ours = spectral_embedding(graph, n_components=4)
    theirs = manifold.spectral_embedding(graph.astype(float), n_components=4, random_state=0)
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours, theirs, atol=1e-6 * abs(theirs).max())


@pytest.mark.parametrize("norm_laplacian", [True, False])
def test_several_components(norm_laplacian):
    """The vectors to eigenvalue zero tell the components apart, and none of them is the constant one."""
    graph = sp.block_diag([ring(30), ring(40), ring(51)], format="csr")
    with pytest.warns(UserWarning, match="not fully connected"):
        ours = spectral_embedding(graph, n_components=2, norm_laplacian=norm_laplacian)
    parts = np.split(ours, [30, 70])
    centres = np.array([part.mean(axis=0) for part in parts])
    assert max(abs(part - centre).max() for part, centre in zip(parts, centres)) < 1e-7
    assert min(np.linalg.norm(centres[i] - centres[j]) for i, j in ((0, 1), (0, 2), (1, 2))) > 1e-2
    assert abs(ours.sum(axis=0)).max() < 1e-7  # degrees are all 2


def test_vertices_without_edges():
    """Are no components of their own, in scikit-learn neither; an edge to itself is none."""
    graph = sp.block_diag([ring(20), sp.diags([1.0] * 200 + [0.0] * 50)], format="csr")
    with pytest.warns(UserWarning, match="not fully connected"):
        ours = spectral_embedding(graph, n_components=4)
    with pytest.warns(UserWarning, match="not fully connected"):
        theirs = manifold.spectral_embedding(graph.toarray(), n_components=4, random_state=0)
    assert scipy.linalg.subspace_angles(ours, theirs).max() < 1e-6


def test_not_symmetric():
    graph = digits(200).tolil()
    graph[0, 1] = 3.0
    graph = graph.tocsr()
    with pytest.warns(UserWarning, match="not symmetric"):
        ours = spectral_embedding(graph, n_components=3)
    with pytest.warns(UserWarning, match="not symmetric"):
        theirs = manifold.spectral_embedding(graph, n_components=3, random_state=0)
    np.testing.assert_allclose(ours, theirs, atol=1e-6 * abs(theirs).max())


@pytest.mark.parametrize("drop_first", [True, False])
@pytest.mark.parametrize("norm_laplacian", [True, False])
@pytest.mark.parametrize("n_components", [5, 6, 8])
def test_fewer_vertices_than_columns(n_components, norm_laplacian, drop_first):
    """scikit-learn's of dense graphs; of sparse ones it has none."""
    dense = np.random.default_rng(1).random((6, 6))
    dense += dense.T
    options = {"n_components": n_components, "norm_laplacian": norm_laplacian, "drop_first": drop_first}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = manifold.spectral_embedding(dense, random_state=0, **options)
    for graph in (dense, sp.csr_matrix(dense)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ours = spectral_embedding(graph, **options)
        assert {w.category for w in caught} <= {RuntimeWarning}
        assert len(caught) == (n_components > 5 if drop_first else n_components >= 6)
        assert ours.shape == theirs.shape == (6, min(n_components, 5 if drop_first else 6))
        np.testing.assert_allclose(ours, theirs, atol=1e-8)


@pytest.mark.parametrize("drop_first", [True, False])
@pytest.mark.parametrize("norm_laplacian", [True, False])
def test_graphs_without_edges(norm_laplacian, drop_first):
    with pytest.warns(UserWarning, match="not fully connected"):
        ours = spectral_embedding(
            sp.csr_matrix((20, 20)), n_components=3, norm_laplacian=norm_laplacian, drop_first=drop_first
        )
    np.testing.assert_allclose(ours.T @ ours, np.eye(3), atol=1e-12)
    with pytest.warns(RuntimeWarning, match="has 0"):
        assert spectral_embedding(np.zeros((1, 1))).shape == (1, 0)


def test_weights_of_small_integers_given_twice():
    rows, columns = np.repeat([[0, 1, 1, 2], [1, 0, 2, 1]], [300, 300, 500, 500], axis=1)
    ours = spectral_embedding(sp.coo_matrix((np.ones(1600, np.uint8), (rows, columns)), shape=(3, 3)), n_components=1)
    weights = np.array([[0, 300, 0], [300, 0, 500], [0, 500, 0]])
    np.testing.assert_allclose(ours, spectral_embedding(weights, n_components=1))


def test_masked_weights_are_refused():
    with pytest.raises(ValueError, match="masked"):
        spectral_embedding(np.ma.masked_greater(np.ones((20, 20)), 0.5))


def test_wrong_arguments():
    for wrong in (0, -1):
        with pytest.raises(ValueError, match=f"^n_components must be greater than 0, not {wrong}"):
            spectral_embedding(ring(20), n_components=wrong)
    with pytest.raises(TypeError, match="^n_components must be an integer"):
        spectral_embedding(ring(20), n_components=2.5)
    with pytest.raises(ValueError, match="^adjacency holds the weight -1: weights must not be negative"):
        spectral_embedding(-ring(20))
    with pytest.raises(ValueError, match="^adjacency holds values that are not finite"):
        spectral_embedding(np.inf * ring(20))
    with pytest.raises(ValueError, match="eigen_solver"):
        spectral_embedding(ring(20), eigen_solver="lanczos")
    with pytest.raises(ValueError, match="square"):
        spectral_embedding(np.ones((3, 4)))
    with pytest.raises(TypeError, match="complex"):
        spectral_embedding(1j * ring(20))


def test_spectral_clustering():
    """As scikit-learn's SpectralEmbedding and SpectralClustering call it: without the first vector, then with it."""
    rng = np.random.default_rng(4)
    points = np.concatenate([rng.normal(centre, 0.5, size=(80, 2)) for centre in ([0, 0], [4, 0], [0, 4])])
    graph = kneighbors_graph(points, 40)
    graph = 0.5 * (graph + graph.T)
    ours, theirs = both(graph, n_components=3, drop_first=False)
    np.testing.assert_allclose(ours, theirs, atol=1e-6 * abs(theirs).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_graph_of_anndata(dtype):
    """connectivities of an AnnData, which scanpy makes in float32, kept in a file and read back."""
    anndata = pytest.importorskip("anndata")
    data = anndata.AnnData(np.zeros((600, 1), dtype=np.float32))
    data.obsp["connectivities"] = digits().astype(dtype)
    data.obsm["X_diffmap"] = spectral_embedding(data.obsp["connectivities"], n_components=4)
    theirs = manifold.spectral_embedding(digits(), n_components=4, random_state=0)
    np.testing.assert_allclose(data.obsm["X_diffmap"], theirs, atol=1e-6 * abs(theirs).max())
    some = data[:500]  # a view, whose graph is of another class
    embedding = spectral_embedding(some.obsp["connectivities"], n_components=3)
    theirs = manifold.spectral_embedding(digits()[:500, :500], n_components=3, random_state=0)
    np.testing.assert_allclose(embedding, theirs, atol=1e-6 * abs(theirs).max())
