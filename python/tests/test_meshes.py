"""Matrices of meshes: cotangent_laplacian, and what scikit-fem assembles."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse.linalg

from block_eigs import cotangent_laplacian, eigsh


def sphere(times):
    """An octahedron whose triangles are divided in four, on the unit sphere."""
    points = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0], [0, -1, 0], [0, 0, -1]], dtype=float)
    triangles = np.array([[i, j, k] for i in (0, 3) for j in (1, 4) for k in (2, 5)])
    for _ in range(times):
        edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        edges, places = np.unique(edges, axis=0, return_inverse=True)
        middles = points[edges].sum(axis=1)
        ab, bc, ca = len(points) + places.reshape(-1, 3).T
        a, b, c = triangles.T
        triangles = np.concatenate([np.stack(t, 1) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
        points = np.concatenate([points, middles / np.linalg.norm(middles, axis=1, keepdims=True)])
    return points, triangles


def test_sphere():
    """Eigenvalues l (l + 1), each 2l + 1 times; linear elements are above them by an error of second order."""
    errors = []
    for times in (3, 4, 5):
        K, M = cotangent_laplacian(*sphere(times))
        w, v = eigsh(K, 9, M)
        assert abs(w[0]) < 1e-9
        np.testing.assert_allclose(v.T @ (M @ v), np.eye(9), atol=1e-10)
        errors.append(abs(w[1:] / np.array([2.0] * 3 + [6.0] * 5) - 1).max())
    assert errors[-1] < 5e-3
    assert 3.5 < errors[0] / errors[1] < 4.5 and 3.5 < errors[1] / errors[2] < 4.5
    exact, _ = scipy.sparse.linalg.eigsh(K.tocsc(), 9, M.tocsc(), sigma=-0.1)
    np.testing.assert_allclose(w[1:], np.sort(exact)[1:], rtol=1e-9)


def test_area_and_constants():
    points, triangles = sphere(4)
    K, M = cotangent_laplacian(points, triangles)
    corners = points[triangles]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum()
    np.testing.assert_allclose(M.sum(), area, rtol=1e-13)
    assert abs(K.sum(axis=1)).max() < 1e-13
    assert abs(K - K.T).max() < 1e-15
    # Either way round.
    turned, _ = cotangent_laplacian(points, triangles[:, ::-1])
    assert abs(K - turned).max() < 1e-14


def test_one_triangle():
    """By its cotangents: 1 and 1 at the acute angles, 0 at the right one."""
    K, M = cotangent_laplacian([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]])
    np.testing.assert_allclose(K.toarray(), [[1, -0.5, -0.5], [-0.5, 0.5, 0], [-0.5, 0, 0.5]], atol=1e-15)
    np.testing.assert_allclose(M.toarray(), (np.eye(3) + 1) / 24)


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("height", [1e-3, 1e-7, 1e-9, 1e-200])
def test_slivers(height, dimensions):
    points = np.zeros((3, dimensions))
    points[1, 0], points[2, :2] = 1, (0.3, height)
    for turn in range(3):
        K, M = cotangent_laplacian(np.roll(points, turn, axis=0), [[0, 1, 2]])
        np.testing.assert_allclose(M.sum(), height / 2, rtol=1e-14)
        np.testing.assert_allclose(K.max(), 0.5 / height, rtol=1e-14)


def test_slivers_in_space():
    """Beside exact arithmetic, however they lie: as exact as coordinates that are rounded allow."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        turned, _ = np.linalg.qr(rng.standard_normal((3, 3)))
        points = np.array([[0, 0, 0], [1, 0, 0], [rng.random(), 1e-6, 0]]) @ turned
        a, b, c = ([Fraction(x) for x in point] for point in points.tolist())
        u, v = ([x - y for x, y in zip(other, a)] for other in (b, c))
        cross = [u[i - 2] * v[i - 1] - u[i - 1] * v[i - 2] for i in range(3)]
        exact = 0.5 * float(sum(x * x for x in cross)) ** 0.5
        np.testing.assert_allclose(cotangent_laplacian(points, [[0, 1, 2]])[1].sum(), exact, rtol=1e-9)


@pytest.mark.parametrize("size", [1e150, 1e-150])
def test_sizes_at_the_ends_of_the_range(size):
    K, M = cotangent_laplacian(size * np.array([[0, 0], [1, 0], [0, 1]]), [[0, 1, 2]])
    np.testing.assert_allclose(K.toarray(), [[1, -0.5, -0.5], [-0.5, 0.5, 0], [-0.5, 0, 0.5]], atol=1e-15)
    np.testing.assert_allclose(M.sum() / size / size, 0.5, rtol=1e-14)


@pytest.mark.parametrize(
    "points, triangles, words",
    [
        (np.zeros((3, 4)), [[0, 1, 2]], "points must be of shape"),
        (np.eye(3), [[0, 1]], "triangles must be integers"),
        (np.eye(3), [[0.0, 1.0, 2.0]], "triangles must be integers"),
        (np.eye(3), [[0, 1, 3]], "name points 0 to 3, but there are 0 to 2"),
        (np.eye(3), [[0, 1, 1]], "of no triangle"),
        ([[0, 0], [1, 1], [2, 2]], [[0, 1, 2]], "triangle 0 has no area"),
        ([[0, 0], [1, np.nan], [0, 1]], [[0, 1, 2]], "^point 1 has a coordinate that is not finite$"),
        ([[0, 0], [1, 0], [0, -np.inf]], [[0, 1, 2]], "^point 2 has a coordinate that is not finite$"),
        (np.eye(3), np.zeros((0, 3), int), "^there are no triangles"),
        (np.eye(3), [], "^there are no triangles"),
        (1e200 * np.eye(3), [[0, 1, 2]], "^the area of triangle 0 is out of the range of double"),
    ],
)
def test_wrong_meshes(points, triangles, words):
    with pytest.raises(ValueError, match=words):
        cotangent_laplacian(points, triangles)


def test_flat_mesh_as_scikit_fem():
    skfem = pytest.importorskip("skfem")
    from skfem.models.poisson import laplace, mass

    mesh = skfem.MeshTri.init_circle(4)
    basis = skfem.Basis(mesh, skfem.ElementTriP1())
    K, M = cotangent_laplacian(mesh.p.T, mesh.t.T)
    assert abs(K - laplace.assemble(basis)).max() < 1e-12
    assert abs(M - mass.assemble(basis)).max() < 1e-14


@pytest.mark.parametrize("element", ["tetrahedra", "hexahedra", "quadratic tetrahedra"])
def test_modes_of_a_clamped_beam_from_scikit_fem(element):
    """In the place of its own solver, by SciPy on the factorised K; steel in units of 100 GPa and t/m3."""
    skfem = pytest.importorskip("skfem")
    from skfem.helpers import dot
    from skfem.models.elasticity import lame_parameters, linear_elasticity

    axes = np.linspace(0, 4, 17), np.linspace(0, 1, 5), np.linspace(0, 0.5, 3)
    if element == "hexahedra":
        mesh, kind = skfem.MeshHex.init_tensor(*axes), skfem.ElementHex1()
    else:
        mesh = skfem.MeshTet.init_tensor(*axes)
        kind = skfem.ElementTetP1() if element == "tetrahedra" else skfem.ElementTetP2()
    basis = skfem.Basis(mesh, skfem.ElementVector(kind))
    K = linear_elasticity(*lame_parameters(2.0, 0.3)).assemble(basis)
    M = skfem.BilinearForm(lambda u, v, _: 7.8 * dot(u, v)).assemble(basis)
    clamped = basis.get_dofs(lambda x: x[0] == 0).flatten()
    condensed = skfem.condense(K, M, D=clamped)
    places = basis.doflocs[:, condensed[3][::3]].T

    w, v = skfem.solve(*condensed, solver=lambda K, M, **_: eigsh(K, 6, M, coordinates=places, preconditioner="amg"))
    theirs, x = skfem.solve(*condensed, solver=skfem.solver_eigen_scipy_sym(k=6, sigma=0.0))
    np.testing.assert_allclose(w, theirs, rtol=1e-9)
    assert not v[clamped].any()
    overlap = abs(np.einsum("ij,ij->j", v, M @ x))
    np.testing.assert_allclose(overlap, 1, atol=1e-6)
    plain, _ = skfem.solve(*condensed, solver=lambda K, M, **_: eigsh(K, 6, M))
    np.testing.assert_allclose(plain, theirs, rtol=1e-9)
