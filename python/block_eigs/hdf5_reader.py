"""Datasets and attributes of an HDF5 file; whatever is wrong with it is a FileError."""

import contextlib
import os

import h5py
import numpy as np

from block_eigs.hdf5_texts import texts_are_whole

__all__ = ["DAMAGE", "FileError", "Reader", "damage_named", "opened", "read", "sentence_of", "verify"]

# What h5py and NumPy raise where a file says what cannot be.
DAMAGE = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


class FileError(ValueError):
    """A file is not what it is taken for; one sentence that names it."""


class Reader:
    """Datasets of a file by name; what is missing or of another length is a FileError."""

    def __init__(self, path, file):
        self.path, self.file = path, file

    def dataset(self, name):
        if not isinstance(self.file.get(name), h5py.Dataset):
            raise FileError(f"{self.path}: damaged, or not a result of block-eigs or block-solve: it has no {name}")
        return self.file[name]

    def __call__(self, name, length=None):
        values = read(self.path, self.dataset(name))
        if length is not None and len(values) != length:
            raise FileError(f"{self.path}: {name} has {len(values)} entries instead of {length}")
        verify(self.path, self.file, name, values)
        return values

    def optional(self, name, length=None):
        return self(name, length) if name in self.file else None

    def text(self, name):
        return np.array([_text(value) for value in self(name)], dtype=str)

    def attributes(self, name, keys):
        """Those of these keys that are there. HDF5's library may crash where it goes through all of a damaged file."""
        if name not in self.file:
            return {}
        found, attributes = {}, self.file[name].attrs
        for key in keys:
            try:
                if key in attributes:
                    found[key] = _single(attributes, key)
            except (OSError, *DAMAGE) as error:
                raise FileError(f"{self.path}: damaged: attribute {key} of {name}: {sentence_of(error)}") from error
        return found


def _text(value):
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogateescape")  # as h5py has what is no text
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _single(attributes, key):
    """A text or a number; of what claims to be more nothing is read."""
    shape = attributes.get_id(key).shape
    if shape != ():
        raise ValueError(f"of shape {shape} instead of one value")
    value = attributes[key]
    if isinstance(value, (bytes, str)):
        return _text(value)
    return value.item() if isinstance(value, np.generic) else value


def sentence_of(error):
    """The first line of what it says."""
    text = str(error.args[0] if isinstance(error, KeyError) and error.args else error).strip()  # not in quotes
    return text.splitlines()[0] if text else type(error).__name__


@contextlib.contextmanager
def damage_named(path):
    """Whatever is raised within it by a damaged file becomes a FileError."""
    try:
        yield
    except FileError:
        raise
    except (OSError, *DAMAGE) as error:
        raise FileError(f"{path}: damaged: {sentence_of(error)}") from error


def read(path, dataset, part=()):
    try:
        in_one_piece, whole = dataset.chunks is None, dataset.file.id.get_filesize()
        if in_one_piece and dataset.size * dataset.dtype.itemsize > whole:
            raise FileError(f"{path}: damaged: {dataset.name} of shape {dataset.shape} does not fit into {whole} bytes")
        return dataset[part]
    except FileError:
        raise
    except MemoryError as error:
        if in_one_piece:
            raise  # it is there
        raise FileError(f"{path}: {dataset.name} cannot be read: {sentence_of(error)}") from error
    except (OSError, *DAMAGE) as error:
        raise FileError(f"{path}: {dataset.name} cannot be read: {sentence_of(error)}") from error


def verify(path, file, name, values, columns=slice(None)):
    """Values of a list, or of some columns of a table, that do not agree with the checksums in the file are a FileError."""
    stored = file.get(f"checksums/{name.strip('/')}")
    if isinstance(stored, h5py.Dataset) and values.dtype.kind in "fi":
        wanted = read(path, stored).astype("u8")
        wanted = wanted if file[name].ndim < 2 else wanted[columns]
        if not np.array_equal(_checksums(values), np.ravel(wanted)):
            raise FileError(
                f"{path}: {name} does not agree with its checksum; the file was damaged, or changed by another "
                "program, which should then have removed the group /checksums"
            )


def _checksums(values, piece=1 << 16):
    """One a column, as io/hdf5/column_checksums.hpp defines them (SplitMix64)."""
    table = values.reshape(len(values), values.shape[1] if values.ndim > 1 else 1)
    sums = np.zeros(table.shape[1], "u8")
    for first in range(0, len(table), piece):
        bits = np.ascontiguousarray(table[first : first + piece])
        bits = bits.view(f"u{bits.dtype.itemsize}").astype("u8")
        rows = np.arange(first + 1, first + 1 + len(bits), dtype="u8") * np.uint64(0x9E3779B97F4A7C15)
        z = bits + rows[:, None]
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
        sums += (z ^ (z >> np.uint64(31))).sum(axis=0, dtype="u8")
    return sums


def opened(path):
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: no such file")
    if os.path.isdir(path):
        raise FileError(f"{path}: a folder, not a file")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        if not os.access(path, os.R_OK):
            raise PermissionError(f"{path}: not allowed to be read") from error
        if not h5py.is_hdf5(path):
            raise FileError(f"{path}: not an HDF5 file") from error
        raise FileError(f"{path}: it cannot be opened: {sentence_of(error)}") from error
    if not texts_are_whole(path):
        file.close()
        raise FileError(f"{path}: damaged: the texts of its attributes cannot be read")
    return file
