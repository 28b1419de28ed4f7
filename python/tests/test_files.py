"""Results of the programs as Python reads them, and matrices that Python writes for them."""

import gzip
import os

import h5py
import numpy as np
import programs
import pytest
import scipy.io
import scipy.sparse as sp
from block_eigs.files import FileError, read_result, write_matrix
from conftest import ones_given_many_times

def laplacian(*sizes):
    total = sp.csr_matrix((1, 1))
    for n in sizes:
        line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
        total = sp.kron(sp.eye(n), total) + sp.kron(line, sp.eye(total.shape[0]))
    return total.tocsr()


def test_result_of_an_eigensolve(eigen):
    result = read_result(eigen)
    a = laplacian(30, 20)
    w, v = result
    assert result.kind == "eigen"
    assert v.shape == (600, 5)
    np.testing.assert_allclose(np.linalg.norm(a @ v - v * w, axis=0), result.residual_norms, rtol=1e-4, atol=1e-13)
    np.testing.assert_allclose(w, np.linalg.eigvalsh(a.toarray())[:5], rtol=1e-9)
    np.testing.assert_array_equal(result.vectors([1, 3]), v[:, [1, 3]])
    np.testing.assert_array_equal(result.vectors(2), v[:, 2])
    np.testing.assert_allclose(result.limits(), 1e-8 * w, rtol=1e-6)
    assert result.requested_tolerance == 1e-8
    assert list(result.status) == ["converged"] * 5
    assert result.converged.all()
    assert result.bounds == "rigorous"
    assert "laplacian2d" in result.config
    assert result.attributes["rows"] == 600
    assert len(result.history) == result.attributes["iterations"]
    assert result.history.eigenvalues.shape == result.history.residual_norms.shape
    assert result.history.in_float[0] and not result.history.in_float[-1]
    assert [choice.first_iteration for choice in result.preconditioners] == [0]
    assert result.preconditioners[0].description.startswith("amg")
    assert result.preconditioner_made.startswith("amg: ")
    assert not result.chosen
    assert [phase.name for phase in result.times] == ["all"]
    assert result.memory.host > 1e6 and result.memory.gpu == 0
    assert result.proof.made in ("probe", "inertia", "none", "dense", "residuals")
    with pytest.raises(AttributeError, match="no solution"):
        result.solution


def test_vectors_stay_in_the_file_until_asked_for(eigen, tmp_path):
    copy = tmp_path / "copy.h5"
    copy.write_bytes(eigen.read_bytes())
    result = read_result(copy)
    with h5py.File(copy, "a") as file:
        file["eigenvectors"][0, 0] = 42.0
        del file["checksums"]
    assert result.eigenvectors[0, 0] == 42.0
    copy.unlink()
    assert result.eigenvalues.size == 5
    with pytest.raises(FileNotFoundError, match="copy.h5"):
        result.eigenvectors


def test_result_of_a_linear_solve(linear):
    result = read_result(linear)
    assert result.kind == "linear"
    assert result.solution.shape == (600, 4)
    assert result.requested_tolerance == 1e-9
    np.testing.assert_allclose(result.limits(), 1e-9 * result.rhs_norms)
    assert (result.residual_norms <= 1.01 * result.limits()).all()
    assert result.history.eigenvalues is None
    assert result.proof is None
    with pytest.raises(AttributeError, match="no eigenvectors"):
        result.eigenvectors
    with pytest.raises(TypeError, match="solution"):
        w, v = result


def test_without_vectors(tmp_path):
    programs.run("block-eigs", tmp_path, programs.EIGEN, "output.eigenvectors=false")
    result = read_result(tmp_path / "result.h5")
    assert result.eigenvalues.size == 5
    with pytest.raises(FileError, match="output.eigenvectors: false"):
        result.eigenvectors


def test_results_of_older_versions_lack_groups(eigen, tmp_path):
    path = tmp_path / "old.h5"
    path.write_bytes(eigen.read_bytes())
    with h5py.File(path, "a") as file:
        for name in (
            "times",
            "preconditioners",
            "error_bounds",
            "attained_tolerances",
            "history/in_float",
            "history/products",
        ):
            del file[name]
        for name in [name for name in file.attrs if name.startswith(("proof", "memory"))]:
            del file.attrs[name]
    result = read_result(path)
    assert result.times == [] and result.preconditioners == []
    assert result.memory is None and result.proof is None and result.error_bounds is None and result.limits() is None
    assert not result.history.in_float.any()
    np.testing.assert_array_equal(result.history.products, result.history.active_columns)
    with h5py.File(path, "a") as file:
        del file["history"]
    assert read_result(path).history is None


def test_columns_are_chosen_as_in_numpy(eigen):
    result = read_result(eigen)
    v = result.eigenvectors
    for columns in (
        3,
        -1,
        [2, 0],
        [0, 0, 4],
        slice(1, 4),
        slice(None, None, 2),
        slice(None, None, -1),
        np.array([True, False, True, False, False]),
    ):
        np.testing.assert_array_equal(result.vectors(columns), v[:, columns])
    with pytest.raises(TypeError, match="bool"):
        result.vectors(True)
    with pytest.raises(IndexError):
        result.vectors(5)


def test_a_matrix_that_is_no_result(tmp_path):
    write_matrix(tmp_path / "a.h5", laplacian(4))
    with pytest.raises(FileError, match="neither eigenvalues nor solution, but A"):
        read_result(tmp_path / "a.h5")


@pytest.mark.parametrize("name", ["a.h5", "a.npz", "a.mtx", "a.mtx.gz", "A.H5", "A.NPZ", "A.Npz", "A.MTX", "A.MTX.GZ"])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "array"])
def test_round_trip(tmp_path, name, form):
    a = laplacian(7, 5) + sp.diags(np.linspace(1 / 3, 1e-7, 35))
    path = tmp_path / name
    write_matrix(path, sp.csr_array(a) if form == "array" else a.asformat(form))
    if name.lower() == "a.h5":
        with h5py.File(path) as file:
            group = file["A"]
            assert group.attrs["encoding-type"] == "csr_matrix"
            assert group["indices"].dtype == np.int32
            b = sp.csr_matrix((group["data"][:], group["indices"][:], group["indptr"][:]), shape=group.attrs["shape"])
    else:
        opened = gzip.open if name.lower().endswith(".gz") else open
        with opened(path, "rb") as file:
            b = sp.load_npz(file) if name.lower() == "a.npz" else scipy.io.mmread(file)
    np.testing.assert_array_equal(b.toarray(), a.toarray())
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", ["a.h5", "a.npz", "a.mtx", "a.mtx.gz"])
def test_programs_read_what_is_written(tmp_path, name):
    a = laplacian(9, 8).astype(np.float32).tocoo()
    half = sp.coo_matrix(
        (np.concatenate([a.data / 2, a.data / 2]), (np.tile(a.row, 2), np.tile(a.col, 2))), shape=a.shape
    )
    write_matrix(tmp_path / name, half)
    programs.run(
        "block-eigs", tmp_path, f"matrix: {{file: {name}}}\neigensolver: {{pairs: 3}}\noutput: {{file: out.h5}}\n"
    )
    np.testing.assert_allclose(
        read_result(tmp_path / "out.h5").eigenvalues, np.linalg.eigvalsh(a.toarray().astype(float))[:3], rtol=1e-8
    )


@pytest.mark.parametrize("kind", [np.int8, np.uint8, bool, np.float32])
@pytest.mark.parametrize("form", ["coo", "csr", "csc", "bsr"])
def test_duplicates_are_summed_in_the_precision_that_is_written(tmp_path, form, kind):
    a = ones_given_many_times(form, kind)
    write_matrix(tmp_path / "a.npz", a)
    b = sp.load_npz(tmp_path / "a.npz")
    np.testing.assert_array_equal(b.toarray(), np.diag([300, 1, 1]))
    assert b.dtype == (np.float32 if kind is np.float32 else np.float64) and a.nnz == 302


def test_a_folder_that_is_not_there(tmp_path):
    path = str(tmp_path / "none" / "a.h5")
    with pytest.raises(FileNotFoundError) as caught:
        write_matrix(path, laplacian(4))
    assert caught.value.filename == path


def test_stiffness_and_mass_in_one_file(tmp_path):
    k, m = laplacian(12), sp.diags([1.0, 4.0, 1.0], [-1, 0, 1], shape=(12, 12)) / 6
    write_matrix(tmp_path / "both.h5", k, "K")
    write_matrix(tmp_path / "both.h5", laplacian(3), "M", append=True, compression="gzip")
    write_matrix(tmp_path / "both.h5", m, "M", append=True)
    programs.run(
        "block-eigs",
        tmp_path,
        "matrix: {file: both.h5, dataset: K}\nmass: {file: both.h5, dataset: M}\n"
        "eigensolver: {pairs: 2}\noutput: {file: out.h5}\n",
    )
    import scipy.linalg

    exact = scipy.linalg.eigh(k.toarray(), m.toarray(), eigvals_only=True)[:2]
    np.testing.assert_allclose(read_result(tmp_path / "out.h5").eigenvalues, exact, rtol=1e-9)


def test_masked_matrices_are_refused(tmp_path):
    with pytest.raises(ValueError, match="masked"):
        write_matrix(tmp_path / "A.npz", np.ma.masked_greater(np.ones((3, 3)), 0.5))


def test_bad_matrices_are_refused(tmp_path):
    a, path = laplacian(5).tolil(), tmp_path / "a.h5"
    a[1, 3] = 1.0
    with pytest.raises(ValueError, match=r"not symmetric: A\[1, 3\] = 1, A\[3, 1\] = 0"):
        write_matrix(path, a)
    with pytest.raises(ValueError, match="one triangle"):
        write_matrix(path, sp.triu(laplacian(5)))
    with pytest.raises(ValueError, match="not square: 3 x 4"):
        write_matrix(path, np.ones((3, 4)))
    with pytest.raises(ValueError, match="not finite, in row 2"):
        write_matrix(path, np.diag([1.0, 2.0, np.nan]))
    with pytest.raises(TypeError, match="complex"):
        write_matrix(path, 1j * np.eye(3))
    with pytest.raises(TypeError, match="no real numbers"):
        write_matrix(path, np.array([["a"]]))
    assert os.listdir(tmp_path) == []
    write_matrix(path, a, check=False)
    assert os.listdir(tmp_path) == ["a.h5"]


def test_an_existing_file_stays_where_writing_fails(tmp_path, monkeypatch):
    path = tmp_path / "a.h5"
    write_matrix(path, laplacian(4))
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("block_eigs.matrix_file._write_group", fail)
    with pytest.raises(OSError, match="disk full"):
        write_matrix(path, laplacian(5))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.h5"]
