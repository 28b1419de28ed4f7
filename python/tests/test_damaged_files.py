"""Results that are damaged: one error that names the file, whatever HDF5's library makes of it."""

import struct
import subprocess
import sys

import h5py
import numpy as np
import pytest
from block_eigs.files import FileError, read_result


def test_numbers_agree_with_their_checksums(eigen, linear, tmp_path):
    """One bit of one number."""
    path = tmp_path / "flipped.h5"
    for source, names in ((eigen, ("eigenvalues", "eigenvectors")), (linear, ("rhs_norms", "iterations", "solution"))):
        for name in names:
            content = bytearray(source.read_bytes())
            with h5py.File(source) as file:
                place = file[name].id.get_offset()
            content[place + 8] ^= 1
            path.write_bytes(content)
            with pytest.raises(FileError, match=f"{name} does not agree with its checksum"):
                read_result(path).vectors()
    assert read_result(eigen).vectors([1, 3]).shape == (read_result(eigen).eigenvectors.shape[0], 2)


def broken(eigen, path, change):
    path.write_bytes(eigen.read_bytes())
    with h5py.File(path, "a") as file:
        change(file)
    return path


def test_broken_files_give_one_clear_error(eigen, tmp_path):
    text, path = tmp_path / "text.h5", tmp_path / "broken.h5"
    text.write_text("no HDF5")
    short = tmp_path / "short.h5"
    short.write_bytes(eigen.read_bytes()[:3000])
    empty = tmp_path / "empty.h5"
    h5py.File(empty, "w").close()

    def shorter(file):
        del file["eigenvalues"]
        file["eigenvalues"] = [1.0, 2.0]

    for name, match in (
        (text, "text.h5: not an HDF5 file"),
        (short, "short.h5: "),
        (empty, "not a result of block-eigs"),
        (tmp_path, "a folder"),
    ):
        with pytest.raises(FileError, match=match) as caught:
            read_result(name)
        assert "\n" not in str(caught.value)
    with pytest.raises(FileError, match="it has no status"):
        read_result(broken(eigen, path, lambda file: file.__delitem__("status")))
    with pytest.raises(FileError, match="eigenvalues has 2 entries instead of 5"):
        read_result(broken(eigen, path, shorter))
    with pytest.raises(FileNotFoundError, match="nowhere.h5: no such file"):
        read_result(tmp_path / "nowhere.h5")

    def instead(name, value):
        def change(file):
            del file[name], file["checksums"]
            file[name] = value

        return change

    for name, value in (("converged", True), ("residual_norms", np.ones((5, 2))), ("times/mean", 2.0), ("status", 3.0)):
        with pytest.raises(FileError, match="broken.h5: ") as caught:
            read_result(broken(eigen, path, instead(name, value)))
        assert "\n" not in str(caught.value)


def address_of(path, name):
    with h5py.File(path) as file:
        return h5py.h5o.get_info(file[name].id).addr


def damaged(source, path, change):
    content = bytearray(source.read_bytes())
    change(content)
    path.write_bytes(content)
    return path


def test_vectors_whose_header_is_damaged(eigen, tmp_path):
    at = address_of(eigen, "eigenvectors")
    path = damaged(eigen, tmp_path / "header.h5", lambda content: content.__setitem__(slice(at, at + 16), bytes(16)))
    result = read_result(path)
    for columns in (slice(None), 0, [1, 2]):
        with pytest.raises(FileError, match="header.h5: damaged, .* it has no eigenvectors"):
            result.vectors(columns)


@pytest.mark.parametrize("name", ["residual_norms", "eigenvectors", "status"])
def test_sizes_beyond_the_file(eigen, tmp_path, name):
    """Of which nothing is read: memory for them may well be there."""
    with h5py.File(eigen) as file:
        rows = file[name].shape[0]

    def larger(content):
        place = content.index(struct.pack("<Q", rows), address_of(eigen, name))
        content[place + 4] = 1

    path = damaged(eigen, tmp_path / "large.h5", larger)
    # Newer libraries do not open such a list.
    with pytest.raises(FileError, match=f"large.h5: damaged(: /{name} of shape .* does not fit into|, .* it has no {name})"):
        read_result(path).vectors()


def zeros_in_texts(content):
    place = content.index(b"block-eigs\0", content.index(b"GCOL")) + 3
    content[place : place + 100] = bytes(100)


def dimensions_of_an_attribute(content):
    """Eight of them; behind its name and its type."""
    content[content.index(b"proof_shift\0") + 16 + 24 + 1] = 8


@pytest.mark.parametrize("change, words", [(zeros_in_texts, "texts"), (dimensions_of_an_attribute, "attribute")])
def test_attributes_on_which_the_library_crashes_or_never_ends(eigen, tmp_path, change, words):
    path = damaged(eigen, tmp_path / "attributes.h5", change)
    code = f"from block_eigs import read_result; read_result({str(path)!r})"
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, timeout=60)
    assert done.returncode == 1 and f"FileError: {path}: damaged: " in done.stderr and words in done.stderr, done.stderr


def test_attributes_of_another_kind(eigen, tmp_path):
    path = tmp_path / "kind.h5"
    path.write_bytes(eigen.read_bytes())
    with h5py.File(path, "a") as file:
        file.attrs["ranks"] = [1, 2]
    with pytest.raises(FileError, match=r"kind.h5: damaged: attribute ranks of /: of shape \(2,\)"):
        read_result(path)
    with h5py.File(path, "a") as file:
        file.attrs["ranks"], file.attrs["device"] = 1, b"\xff"
    assert read_result(path).attributes["device"] == "\N{REPLACEMENT CHARACTER}"
