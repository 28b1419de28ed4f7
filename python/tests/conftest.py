"""Problems with known answers, and the environment that several ranks need."""

import os

import numpy as np
import programs
import pytest
import scipy.sparse as sp

# Idle threads of one test must not spin on the cores of another.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def second_difference(n):
    return sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n), format="csr")


def laplacian(*sizes):
    """Dirichlet Laplacian of a grid, and its eigenvalues by closed form, ascending."""
    matrix = sp.csr_matrix((1, 1))
    values = np.zeros(1)
    for n in sizes:
        matrix = sp.kronsum(matrix, second_difference(n), format="csr")
        own = 2 - 2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1))
        values = np.add.outer(values, own).ravel()
    return matrix, np.sort(values)


def ones_given_many_times(form, kind):
    """The diagonal matrix of 300, 1 and 1, as 302 ones: 300 is 44 modulo 256."""
    ones, places, ends = np.ones(302, kind), np.r_[np.zeros(300, int), 1, 2], [0, 300, 301, 302]
    if form == "coo":
        return sp.coo_matrix((ones, (places, places)), shape=(3, 3))
    if form == "bsr":
        return sp.bsr_matrix((ones.reshape(-1, 1, 1), places, ends), shape=(3, 3))
    return {"csr": sp.csr_matrix, "csc": sp.csc_matrix}[form]((ones, places, ends), shape=(3, 3))


def residuals(A, w, v, M=None):
    image = v if M is None else M @ v
    return np.linalg.norm(A @ v - image * w, axis=0)


@pytest.fixture(scope="session")
def cube():
    return laplacian(13, 14, 15)


@pytest.fixture(scope="module")
def eigen(tmp_path_factory):
    """A result of block-eigs."""
    folder = tmp_path_factory.mktemp("eigen")
    programs.run("block-eigs", folder, programs.EIGEN)
    return folder / "result.h5"


@pytest.fixture(scope="module")
def linear(tmp_path_factory):
    """A result of block-solve."""
    folder = tmp_path_factory.mktemp("linear")
    programs.run("block-solve", folder, programs.LINEAR)
    return folder / "result.h5"
