"""The texts in an HDF5 file, looked at before HDF5's library does: where they are damaged it may read them for ever."""

__all__ = ["texts_are_whole"]

_SIGNATURE = b"GCOL\1\0\0\0"  # of a global heap collection, in the HDF5 File Format Specification
_HEAD = 16
_LOOKED_AT = 1 << 20  # the programs write the texts of attributes before long lists


def texts_are_whole(path):
    """Whether the entries of each collection of texts follow each other to its end."""
    with open(path, "rb") as file:
        start = file.read(_LOOKED_AT)
    at = start.find(_SIGNATURE)
    while at >= 0:
        if not _leads_to_its_end(start[at:]):
            return False
        at = start.find(_SIGNATURE, at + _HEAD)
    return True


def _leads_to_its_end(heap):
    size, at = _number(heap, 8, 8), _HEAD
    while at + _HEAD <= min(size, len(heap)):
        entry, length = _number(heap, at, 2), _number(heap, at + 8, 8)
        # Entry 0 is what is free, with its head; texts are filled up to eight bytes.
        step = length if entry == 0 else _HEAD + (length + 7) // 8 * 8
        if not 0 < step <= size - at:
            return False
        at += step
    return True


def _number(data, at, size):
    return int.from_bytes(data[at : at + size], "little")
