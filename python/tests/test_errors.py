"""What is wrong with the input is said by Python's own exceptions, and the interpreter lives on."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import laplacian
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from block_eigs import NoCertificate, _results, eigsh, solve

A, EXACT = laplacian(9, 10)
N = A.shape[0]


def test_not_symmetric():
    B = A.tolil()
    B[3, 4] = 5
    with pytest.raises(ValueError, match="symmetric"):
        eigsh(B.tocsr(), k=2)
    with pytest.raises(ValueError, match="triangle"):
        eigsh(sp.tril(A).tocsr(), k=2)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_not_finite(bad):
    B = A.copy()
    B.data[7] = bad
    with pytest.raises(ValueError, match="(?i)nan|inf"):
        eigsh(B, k=2)
    with pytest.raises(ValueError, match="v0"):
        eigsh(A, k=2, v0=np.full(N, bad))
    with pytest.raises(ValueError):
        solve(A, np.full(N, bad))


def test_complex_and_objects():
    with pytest.raises(TypeError, match="complex"):
        eigsh(A.astype(complex), k=2)
    with pytest.raises(TypeError, match="complex"):
        eigsh(A, k=2, M=sp.identity(N, dtype=complex, format="csr"))
    with pytest.raises(TypeError, match="complex"):
        eigsh(A, k=2, v0=np.ones(N, dtype=complex))
    with pytest.raises(TypeError):
        eigsh(np.array([["a", "b"], ["b", "a"]]), k=1)


@pytest.mark.parametrize(
    "k, error", [(0, ValueError), (-1, ValueError), (N, TypeError), (N + 1, TypeError), (2.5, TypeError)]
)
def test_number_of_pairs(k, error):
    with pytest.raises(error):
        eigsh(A, k=k)


def test_shapes():
    with pytest.raises(ValueError, match="square"):
        eigsh(A[:, :-1], k=2)
    with pytest.raises(ValueError, match="^A and M must have the same shape"):
        eigsh(A, k=2, M=sp.identity(N - 1, format="csr"))
    with pytest.raises(ValueError, match="v0"):
        eigsh(A, k=2, v0=np.ones(N + 1))
    with pytest.raises(ValueError, match="constraints"):
        eigsh(A, k=2, constraints=np.ones((3, N)))
    with pytest.raises(ValueError, match="coordinates"):
        eigsh(A, k=2, preconditioner="amg", coordinates=np.ones((7, 2)))
    with pytest.raises(ValueError):
        eigsh(np.ones(5), k=1)
    with pytest.raises(ValueError, match="F"):
        solve(A, np.ones(N - 1))


def test_mass_not_positive_definite():
    with pytest.raises(ValueError, match="positive definite"):
        eigsh(A, k=2, M=sp.diags(np.r_[0.0, np.ones(N - 1)], format="csr"))
    with pytest.raises(ValueError, match="positive definite"):
        eigsh(A, k=2, M=-sp.identity(N, format="csr"))


def test_broken_arrays():
    B = A.copy()
    B.indices = B.indices.copy()
    B.indices[3] = N
    with pytest.raises(ValueError, match="out of range"):
        eigsh(B, k=2)
    B = A.copy()
    B.indptr = B.indptr.copy()
    B.indptr[4] = B.nnz + 10
    with pytest.raises(ValueError, match=r"indptr\) decrease after row 4: "):
        eigsh(B, k=2)


def test_options():
    with pytest.raises(ValueError, match="amg"):
        eigsh(A, k=2, preconditioner="agm")
    with pytest.raises(ValueError, match="degree"):
        eigsh(A, k=2, preconditioner={"type": "amg", "degre": 3})
    with pytest.raises(TypeError, match="preconditioner"):
        eigsh(A, k=2, preconditioner=3)
    with pytest.raises(ValueError, match="^tol: must be"):
        eigsh(A, k=2, tol=-1)
    with pytest.raises(ValueError, match="^maxiter: must be"):
        eigsh(A, k=2, maxiter=-1)
    with pytest.raises(ValueError, match="^tolerence: unknown key; did you mean 'tolerance'"):
        eigsh(A, k=2, options={"tolerence": 1})
    with pytest.raises(TypeError, match="^options must be a dictionary, not list"):
        eigsh(A, k=2, options=["dense_up_to"])
    with pytest.raises(ValueError, match="device"):
        eigsh(A, k=2, device="tpu")
    with pytest.raises(ValueError, match="verify"):
        eigsh(A, k=2, verify="")
    assert eigsh(A, k=2, verify=False).proof.made == "residuals"


@pytest.mark.parametrize(
    "arguments",
    [
        {"sigma": 0},
        {"which": "LM"},
        {"which": "SM"},
        {"which": "BE"},
        {"mode": "cayley"},
        {"ncv": 20},
        {"OPinv": np.eye(N)},
        {"Minv": np.eye(N)},
    ],
)
def test_what_scipy_has_says_what_to_do(arguments):
    with pytest.raises(NotImplementedError, match="use|take|leave|call"):
        eigsh(A, k=2, **arguments)


def test_which_is_a_word():
    with pytest.raises(ValueError, match="SA"):
        eigsh(A, k=2, which="XX")


def test_functions_need_rows():
    for M in (None, lambda x: x):
        with pytest.raises(TypeError, match="neither M nor v0 .* give v0, or wrap it as .*LinearOperator"):
            eigsh(lambda x: x, k=1, M=M)
    with pytest.raises(TypeError, match="give v0"):
        eigsh(lambda x: x, k=1, v0=3.0)


def test_operator_with_a_preconditioner_of_entries():
    with pytest.raises(ValueError, match="entries"):
        eigsh(aslinearoperator(A), k=2, preconditioner="amg")


@pytest.mark.parametrize("where", ["A", "M", "preconditioner"])
def test_callbacks_that_raise(where):
    class Mine(Exception):
        pass

    def fail(x):
        raise Mine("no")

    operator = LinearOperator((N, N), matvec=fail, matmat=fail, dtype=float)
    arguments = {"A": A, "M": None, "preconditioner": None, where: operator}
    with pytest.raises(Mine, match="no"):
        eigsh(k=2, options={"dense_up_to": 0}, **arguments)
    assert eigsh(A, k=2).converged


def test_callback_after_iterations_that_raises():
    def fail(now):
        raise LookupError(now.iteration)

    big, _ = laplacian(20, 21, 22)
    with pytest.raises(LookupError):
        eigsh(big, k=2, callback=fail)
    with pytest.raises(LookupError):
        solve(big, np.ones(big.shape[0]), callback=fail)


@pytest.mark.parametrize("result", [np.ones(3), np.ones((2, 2)), "text", None, np.ones((N, 1), dtype=complex)])
def test_operators_that_return_nonsense(result):
    operator = LinearOperator((N, N), matvec=lambda x: result, dtype=float)
    operator.matmat = lambda x: result
    with pytest.raises((TypeError, ValueError)):
        eigsh(operator, k=2)


def test_operators_that_return_nan():
    operator = LinearOperator(
        (N, N), matvec=lambda x: np.full(N, np.nan), matmat=lambda x: np.full(x.shape, np.nan), dtype=float
    )
    with pytest.raises((RuntimeError, ValueError)):
        eigsh(operator, k=2)


def test_systems_that_have_no_solution():
    from block_eigs import NotConverged

    singular = sp.diags(np.r_[np.ones(N - 1), 0.0], format="csr")
    with pytest.raises(NotConverged) as caught:
        solve(singular, np.ones(N), maxiter=50)
    assert caught.value.result.x.shape == (N,)
    with pytest.raises(NotConverged):
        solve(-A, np.ones(N), maxiter=50)


def test_vectors_that_are_none():
    for bad, word in ((np.ones(N) * 1j, "real and imaginary"), (sp.csr_matrix(np.ones((N, 1))), "toarray")):
        with pytest.raises(TypeError, match=f"v0.*{word}"):
            eigsh(A, k=2, v0=bad)
        with pytest.raises(TypeError, match=f"F.*{word}"):
            solve(A, bad)


def test_arguments_are_named_where_they_are_of_another_type():
    with pytest.raises(TypeError, match="A must be a matrix, not the name"):
        eigsh("A.npz", k=2)
    with pytest.raises(TypeError, match="tol must be a number"):
        eigsh(A, k=2, tol="tight")
    with pytest.raises(TypeError, match="maxiter must be an integer"):
        solve(A, np.ones(N), maxiter=10.5)
    with pytest.raises(TypeError, match="rng must be an integer"):
        eigsh(A, k=2, rng="seed")
    for call in (lambda: eigsh(A, k=2, comm=3), lambda: solve(A, np.ones(N), comm=3)):
        with pytest.raises(TypeError, match="comm must be a communicator"):
            call()


def test_masked_entries():
    B = A.toarray()
    B[3, 4] = B[4, 3] = 99
    with pytest.raises(ValueError, match="A has masked entries"):
        eigsh(np.ma.masked_equal(B, 99), 2)
    with pytest.raises(ValueError, match="F has masked entries"):
        solve(A, np.ma.masked_equal(np.arange(N), 5))
    assert eigsh(np.ma.masked_equal(A.toarray(), 99), 2).converged  # a mask that hides nothing


def test_options_that_are_arguments():
    with pytest.raises(ValueError, match="'pairs' is the argument k: give it there alone"):
        eigsh(A, 2, options={"pairs": 3})
    with pytest.raises(ValueError, match="'which'"):
        eigsh(A, 2, options={"which": "largest"})
    with pytest.raises(ValueError, match="'tolerance' is the argument tol"):
        eigsh(A, 2, tol=1e-10, options={"tolerance": 1e-3})
    with pytest.raises(ValueError, match="'preconditioner' is the argument"):
        eigsh(A, 2, preconditioner="jacobi", options={"preconditioner": {"type": "none"}})
    with pytest.raises(ValueError, match="'max_iterations' is the argument maxiter"):
        solve(A, np.ones(N), maxiter=5, options={"max_iterations": 50})
    assert eigsh(A, 2, options={"block_size": np.int64(5), "tolerance": np.float32(1e-6)}).converged
    with pytest.raises(TypeError, match="no value of the config"):
        eigsh(A, 2, options={"block_size": object()})


def test_a_certificate_that_could_not_be_had():
    pairs = eigsh(A, 2)
    pairs.proof.failed = True
    with pytest.raises(NoCertificate, match="no certificate: ") as caught:
        _results.raise_where_unfinished(None, pairs)
    assert caught.value.result is pairs
    assert pickle.loads(pickle.dumps(caught.value)).result.converged


def test_a_callback_that_is_no_function():
    with pytest.raises(TypeError, match="callback"):
        eigsh(A, 2, callback=5)
