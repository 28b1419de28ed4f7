"""Datasets and attributes of an HDF5 file; whatever is wrong with it is a FileError."""

import os

import h5py
import numpy as np

__all__ = ["FileError", "Reader", "opened", "read"]


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
            raise FileError(f"{self.path}: the attributes of {name} cannot be read: {_sentence(error)}") from error


def _text(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _plain(value):
    if isinstance(value, (bytes, str)):
        return _text(value)
    return value.item() if isinstance(value, np.generic) else value


def _sentence(error):
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def read(path, dataset, part=()):
    try:
        return dataset[part]
    except (OSError, RuntimeError) as error:
        raise FileError(f"{path}: {dataset.name} cannot be read: {_sentence(error)}") from error


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
        raise FileError(f"{path}: it cannot be opened: {_sentence(error)}") from error
