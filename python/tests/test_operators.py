"""Matrix-free: A, M and the preconditioner as operators on blocks."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import laplacian, residuals
from scipy.fft import dstn
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, aslinearoperator, splu

from block_eigs import NotConverged, eigsh, solve


@pytest.mark.parametrize("which", ["SA", "LA"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_operator(which, kind):
    A, exact = laplacian(22, 23)
    result = eigsh(aslinearoperator(A.astype(kind)), k=3, which=which)
    np.testing.assert_allclose(
        result.eigenvalues, exact[:3] if which == "SA" else exact[-3:], rtol=1e-10 if kind is np.float64 else 1e-4
    )
    assert result.eigenvectors.dtype == kind


def test_blocks_are_handed_over():
    A, exact = laplacian(22, 23)
    widths = set()

    def product(x):
        widths.add(x.shape[1])
        assert x.shape[0] == A.shape[0] and not x.flags.writeable
        return A @ x

    w, _ = eigsh(LinearOperator(A.shape, matvec=lambda x: A @ x, matmat=product, dtype=float), k=4)
    np.testing.assert_allclose(w, exact[:4], rtol=1e-10)
    assert max(widths) >= 4


def test_matvec_alone_is_enough():
    A, exact = laplacian(12, 13)
    w, _ = eigsh(LinearOperator(A.shape, matvec=lambda x: A @ x, dtype=float), k=2)
    np.testing.assert_allclose(w, exact[:2], rtol=1e-10)


class Vectors:
    """What SciPy's eigsh takes for an operator, though it is none of SciPy's."""

    def __init__(self, A):
        self.shape, self.dtype, self.matvec = A.shape, A.dtype, A.__matmul__


def test_what_multiplies_vectors_alone_is_an_operator():
    A, exact = laplacian(12, 13)
    M = 2 * sp.identity(A.shape[0], format="csr")
    inverse = Vectors(A)
    inverse.matvec = splu(A.tocsc()).solve
    for arguments in ((Vectors(A), 2), (A, 2, Vectors(M)), (Vectors(A), 2, M)):
        w, _ = eigsh(*arguments, preconditioner=inverse)
        np.testing.assert_allclose(w, exact[:2] / (1 if len(arguments) == 2 else 2), rtol=1e-10)
    np.testing.assert_allclose(A @ solve(Vectors(A), np.ones(A.shape[0])).x, 1, atol=1e-6)
    untyped = Vectors(A)
    del untyped.dtype  # SciPy finds it out by a product
    np.testing.assert_allclose(eigsh(untyped, 2).eigenvalues, exact[:2], rtol=1e-10)
    untyped.matmat = A.__matmul__
    with pytest.raises(TypeError, match="^A has shape and matmat, but no dtype: give it one"):
        eigsh(untyped, 2)


@pytest.mark.parametrize("which", ["SA", "LA"])
def test_both_ends_of_an_operator(which):
    A, exact = laplacian(72, 73)
    result = eigsh(aslinearoperator(A), k=4, which=which)
    expected = exact[:4] if which == "SA" else np.sort(exact)[-4:]
    np.testing.assert_allclose(np.sort(result.eigenvalues), expected, rtol=1e-10)


def test_an_operator_is_not_advised_to_be_a_matrix():
    A, _ = laplacian(72, 73)
    with pytest.raises(NotConverged) as caught:
        eigsh(aslinearoperator(A), k=4, maxiter=3)
    assert "preconditioner" not in str(caught.value)


def test_preconditioner_of_the_caller():
    A, exact = laplacian(40, 41)
    inverse = splu(A.tocsc())
    for preconditioner in (
        inverse.solve,
        LinearOperator(A.shape, matvec=inverse.solve, matmat=inverse.solve, dtype=float),
    ):
        result = eigsh(A, k=3, preconditioner=preconditioner)
        np.testing.assert_allclose(result.eigenvalues, exact[:3], rtol=1e-11)
        assert result.iterations < 20
    result = eigsh(A, k=3, preconditioner=sp.diags(1 / A.diagonal(), format="csr"))
    np.testing.assert_allclose(result.eigenvalues, exact[:3], rtol=1e-11)
    matrix_free = eigsh(aslinearoperator(A), k=3, preconditioner=inverse.solve)
    np.testing.assert_allclose(matrix_free.eigenvalues, exact[:3], rtol=1e-11)


def test_preconditioner_of_the_caller_is_there_from_the_start():
    """Of so many numbers iterations begin in float where the preconditioner is ours: there is none of the caller's."""
    sides = (64, 65, 66)
    n = int(np.prod(sides))
    spectra = [2 - 2 * np.cos(np.pi * np.arange(1, side + 1) / (side + 1)) for side in sides]
    spectrum = spectra[0][:, None, None] + spectra[1][None, :, None] + spectra[2][None, None, :]
    one = [sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(side, side)) for side in sides]
    A = sp.csr_matrix(sp.kronsum(sp.kronsum(one[2], one[1]), one[0]))

    calls = []

    def inverse(x):
        calls.append(x.shape)
        waves = dstn(x.T.reshape(-1, *sides), type=1, axes=(1, 2, 3), norm="ortho")
        return dstn(waves / spectrum, type=1, axes=(1, 2, 3), norm="ortho").reshape(-1, n).T

    result = eigsh(A, k=8, tol=1e-8, preconditioner=inverse)
    np.testing.assert_allclose(result.eigenvalues, np.sort(spectrum.ravel())[:8], rtol=1e-10)
    assert len(calls) >= result.iterations  # no iteration was without it
    exact = np.random.default_rng(1).standard_normal((n, 8))
    solution = solve(A, A @ exact, tol=1e-10, preconditioner=inverse)
    np.testing.assert_allclose(solution.x, exact, atol=1e-6)
    assert solution.iterations <= 4


@pytest.mark.parametrize("free", ["A", "M", "both"])
def test_mass(free):
    A, _ = laplacian(15, 16)
    M = sp.diags(1 + np.arange(A.shape[0]) % 3, format="csr").astype(float)
    expected = eigh(A.toarray(), M.toarray(), eigvals_only=True)[:3]
    a = A if free == "M" else aslinearoperator(A)
    m = M if free == "A" else aslinearoperator(M)
    w, v = eigsh(a, k=3, M=m)
    np.testing.assert_allclose(w, expected, rtol=1e-10)
    assert residuals(A, w, v, M).max() < 1e-7


@pytest.mark.parametrize("free", ["A", "M", "both"])
def test_plain_functions(free):
    """The number of rows is that of the other matrix, or of v0."""
    A, _ = laplacian(15, 16)
    M = sp.diags(1 + np.arange(A.shape[0]) % 3, format="csr").astype(float)
    expected = eigh(A.toarray(), M.toarray(), eigvals_only=True)[:3]
    a = A if free == "M" else lambda x: A @ x
    m = M if free == "A" else lambda x: M @ x
    v0 = np.ones(A.shape[0]) if free == "both" else None
    w, v = eigsh(a, k=3, M=m, v0=v0)
    np.testing.assert_allclose(w, expected, rtol=1e-10)
    assert residuals(A, w, v, M).max() < 1e-7


def test_a_plain_function_and_start_vectors_are_enough():
    A, exact = laplacian(22, 23)
    widths = set()

    def product(x):
        widths.add(x.shape[1])
        return A @ x

    v0 = np.random.default_rng(2).standard_normal((A.shape[0], 4))
    for start in (v0, v0.tolist(), v0.astype(np.float32)):
        w, v = eigsh(product, k=4, v0=start)
        np.testing.assert_allclose(w, exact[:4], rtol=1e-10)
        assert v.dtype == np.float64, "nothing says that products are of single precision"
    assert max(widths) >= 4


def test_a_plain_function_beside_a_matrix_has_its_type():
    A, exact = laplacian(15, 16)
    result = eigsh(A.astype(np.float32), k=3, M=lambda x: 2 * x)
    np.testing.assert_allclose(result.eigenvalues, exact[:3] / 2, rtol=1e-4)
    assert result.eigenvectors.dtype == np.float32


def test_a_plain_function_of_other_rows():
    A, _ = laplacian(15, 16)
    with pytest.raises(ValueError, match="v0 has 7 rows"):
        eigsh(lambda x: x, k=2, M=A, v0=np.ones(7))
    with pytest.raises(ValueError, match="A returned an array of shape"):
        eigsh(lambda x: A @ np.ones((A.shape[0], x.shape[1])), k=2, v0=np.ones(100))


def test_operator_that_is_an_exact_zero():
    zero = LinearOperator((500, 500), matvec=lambda x: 0 * x, matmat=lambda x: 0 * x, dtype=float)
    w, _ = eigsh(zero, k=2)
    np.testing.assert_allclose(w, 0, atol=1e-12)


def test_a_run_within_a_run():
    A, exact = laplacian(10, 11)

    def product(x):
        eigsh(A, k=1)
        return A @ x

    w, _ = eigsh(LinearOperator(A.shape, matvec=product, matmat=product, dtype=float), k=2)
    np.testing.assert_allclose(w, exact[:2], rtol=1e-10)


def test_an_operator_that_multiplies_vectors_alone():
    """d * x of a column of shape (n, 1) would be a matrix."""
    d = np.arange(1.0, 301.0)

    class Own(LinearOperator):
        def __init__(self):
            super().__init__(float, (300, 300))

        def _matvec(self, x):
            return d * x

    for operator in (LinearOperator((300, 300), matvec=lambda x: d * x, dtype=float), Own()):
        w = eigsh(operator, k=3, maxiter=2000).eigenvalues
        np.testing.assert_allclose(w, [1, 2, 3], rtol=1e-8)
