"""Datasets and attributes of an HDF5 file; whatever is wrong with it is a FileError."""

import os

import h5py
import numpy as np

__all__ = ["FileError", "Reader", "opened", "read", "sentence_of", "verify"]


class FileError(ValueError):
    """A file is not what it is taken for; one sentence that names it."""


class Reader:
    """Datasets of a file by name; what is missing or of another length is a FileError."""

    def __init__(self, path, file):
        self.path, self.file = path, file

    def __call__(self, name, length=None):
        if not isinstance(self.file.get(name), h5py.Dataset):
            raise FileError(f"{self.path}: damaged, or not a result of block-eigs or block-solve: it has no {name}")
        values = read(self.path, self.file[name])
        if length is not None and len(values) != length:
            raise FileError(f"{self.path}: {name} has {len(values)} entries instead of {length}")
        verify(self.path, self.file, name, values)
        return values

    def optional(self, name, length=None):
        return self(name, length) if name in self.file else None

    def text(self, name):
        return np.array([_text(value) for value in self(name)], dtype=str)

    def attributes(self, name):
        if name not in self.file:
            return {}
        try:
            return {key: _plain(value) for key, value in self.file[name].attrs.items()}
        except (OSError, RuntimeError, KeyError) as error:
            raise FileError(f"{self.path}: the attributes of {name} cannot be read: {sentence_of(error)}") from error


def _text(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _plain(value):
    if isinstance(value, (bytes, str)):
        return _text(value)
    return value.item() if isinstance(value, np.generic) else value


def sentence_of(error):
    """The first line of what it says."""
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def read(path, dataset, part=()):
    try:
        return dataset[part]
    except (OSError, RuntimeError) as error:
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
        return h5py.File(path, "r")
    except OSError as error:
        if not os.access(path, os.R_OK):
            raise PermissionError(f"{path}: not allowed to be read") from error
        if not h5py.is_hdf5(path):
            raise FileError(f"{path}: not an HDF5 file") from error
        raise FileError(f"{path}: it cannot be opened: {sentence_of(error)}") from error
