"""Messages of the solvers, which are about a config, in the words of the arguments."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import laplacian

from block_eigs import _words, eigsh, solve

A, _ = laplacian(9, 10)
N = A.shape[0]


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"maxiter": 2**31}, r"^maxiter: must be less than 2\*\*31 in size, not 2147483648$"),
        ({"options": {"block_size": -(2**31) - 1}}, r"^block_size: must be less than 2\*\*31 in size, not -2147483649$"),
        ({"rng": 2**64}, r"^rng: must be less than 2\*\*64, not 18446744073709551616$"),
        ({"M": -sp.identity(N)}, "^M is not positive definite: the diagonal entry"),
        ({"M": A - 0.5 * sp.identity(N)}, "^M is not positive definite: .* x'Mx = .*, D the diagonal of M$"),
        ({"preconditioner": {"type": "amg", "ratio": 3}}, r"^preconditioner.ratio: .*: \{'type': 'amg'\}$"),
        ({"coordinates": np.ones((7, 2))}, "^coordinates is 7 x 2; "),
        ({"max_seconds": "x"}, "^max_seconds must be a number, not str$"),
    ],
)
def test_messages_are_in_the_words_of_python(arguments, words):
    with pytest.raises((TypeError, ValueError), match=words):
        eigsh(A, 2, **arguments)


@pytest.mark.parametrize(
    "text, words",
    [
        ("eigsh:1: device cuda: none is seen; use device: host", "device='cuda': none is seen; use device='host'"),
        ("verify: inertia needs MUMPS, or use verify: probe", "verify='inertia' needs MUMPS, or use verify='probe'"),
        ("preconditioner: direct needs MUMPS; use type: auto", "preconditioner='direct' needs MUMPS; use preconditioner='auto'"),
        ("preconditioner: {type: direct}, where", "preconditioner='direct', where"),
        ("max_iterations = 2 for each of 3 windows reached", "maxiter = 2 for each of 3 windows reached"),
        ("eigensolver.block_size=4, or precision=float", "block_size=4, or single precision: A.astype('float32')"),
        ("null vectors of A (block-eigs finds them: those", "null vectors of A (eigsh finds them: those"),
        ("the mass matrix B: x'Bx is negative, 16 B", "the mass matrix M: x'Mx is negative, 16 B"),
    ],
)
def test_what_is_of_the_config_becomes_arguments(text, words):
    """Of messages that need a GPU, a build without PETSc or much memory."""
    assert _words.sentence(text) == words


def test_what_functions_of_the_caller_say_is_left_alone():
    class Mine(ValueError):
        pass

    def fail(x):
        raise Mine("mass: B")

    for call in (lambda: eigsh(fail, 2, v0=np.ones(N)), lambda: solve(fail, np.ones(N))):
        with pytest.raises(Mine, match="^mass: B$"):
            call()
