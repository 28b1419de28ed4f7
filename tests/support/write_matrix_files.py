#!/usr/bin/env python3
"""Writes sparse matrices with the tools that people use (SciPy, h5py, PETSc), good files and broken ones, and what SciPy says
is in them. Usage: write_matrix_files.py FOLDER [MATRICES], MATRICES holding real matrices (*.mtx.gz).

FOLDER/good.txt has a line for each matrix: file|dataset|rows|columns|nonzeros|sum|reference, where FOLDER/reference holds, as
little-endian float64, A x and A^T y for x_j = probe(j), y_i = probe(i). FOLDER/bad.txt: file|dataset|words of the error.
Files that this script wrote before, from the same sources, stay as they are.
"""
import glob
import gzip
import hashlib
import io
import os
import struct
import sys
import time
import zipfile

import h5py
import numpy as np
import scipy
import scipy.io
import scipy.sparse as sp

LARGE = 300_000


def probe(n):
    return (np.arange(n, dtype=np.int64) * 7919 % 1009) / 1009.0 - 0.5


class Writer:
    def __init__(self, folder):
        self.folder = folder
        self.good = []
        self.bad = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def expect(self, name, a, dataset=""):
        """The file holds `a`."""
        a = sp.csr_matrix(a, dtype=np.float64)
        a.sum_duplicates()
        reference = f"reference-{len(self.good)}.bin"
        product = np.concatenate([a @ probe(a.shape[1]), a.T @ probe(a.shape[0])])
        product.astype("<f8").tofile(self.path(reference))
        self.good.append(f"{name}|{dataset}|{a.shape[0]}|{a.shape[1]}|{a.nnz}|{float(a.sum())!r}|{reference}")

    def refuse(self, name, words, dataset=""):
        """Reading the file fails with an error that holds all the words."""
        self.bad.append(f"{name}|{dataset}|{'|'.join(words)}")

    def finish(self):
        for name, lines in (("good.txt", self.good), ("bad.txt", self.bad)):
            with open(self.path(name), "w") as file:
                file.write("\n".join(lines) + "\n")


def random_matrix(rows, columns, per_row, seed, dtype=np.float64):
    """Empty rows, one full row, values of both signs; not symmetric."""
    rng = np.random.default_rng(seed)
    count = per_row * rows
    i = rng.integers(0, rows, count)
    near = (i * columns // max(rows, 1) + rng.integers(-20, 21, count)) % columns
    j = np.where(rng.random(count) < 0.7, near, rng.integers(0, columns, count))
    a = sp.coo_matrix((rng.standard_normal(count), (i, j)), shape=(rows, columns)).tocsr()
    a.sum_duplicates()
    return a.astype(dtype)


def symmetric_part(a):
    return sp.csr_matrix(a + a.T)


# ---- HDF5 ----

def anndata_group(parent, name, a, index=np.int32, value=None, **options):
    """As anndata.experimental.write_elem lays out a csr_matrix or csc_matrix."""
    group = parent.create_group(name)
    group.attrs["encoding-type"] = f"{a.format}_matrix"
    group.attrs["encoding-version"] = "0.1.0"
    group.attrs["shape"] = np.array(a.shape, dtype=np.int64)
    group.create_dataset("data", data=a.data if value is None else a.data.astype(value), **options)
    group.create_dataset("indices", data=a.indices.astype(index), **options)
    group.create_dataset("indptr", data=a.indptr.astype(index), **options)
    return group


def matlab_file(path, variables):
    """As MATLAB's save -v7.3 lays out sparse matrices: 512 bytes of text before HDF5's part, compressed by columns, ir and jc as
    uint64; ir and data are left out where there are no nonzeros."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, a in variables.items():
            a = sp.csc_matrix(a)
            group = file.create_group(name)
            group.attrs.create("MATLAB_class", np.bytes_("logical" if a.dtype == bool else "double"))
            group.attrs.create("MATLAB_sparse", np.uint64(a.shape[0]))
            group.create_dataset("jc", data=a.indptr.astype(np.uint64), chunks=True, compression="gzip", compression_opts=3)
            if a.nnz == 0:
                continue
            if a.dtype == bool:
                group.attrs.create("MATLAB_int_decode", np.int32(1))
            data = a.data.astype(np.uint8) if a.dtype == bool else a.data
            group.create_dataset("ir", data=a.indices.astype(np.uint64), chunks=True, compression="gzip", compression_opts=3)
            group.create_dataset("data", data=data, chunks=True, compression="gzip", compression_opts=3)
    text = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Mon Jan  1 00:00:00 2024 HDF5 schema 1.00 ."
    with open(path, "r+b") as file:
        file.write(text.ljust(116) + bytes(8) + struct.pack("<HH", 0x0200, 0x4D49))


def good_hdf5(out):
    a = random_matrix(211, 211, 6, 1)
    b = random_matrix(97, 151, 5, 2)
    with h5py.File(out.path("anndata.h5"), "w") as file:
        anndata_group(file, "csr32", a)
        anndata_group(file, "csr64", a, index=np.int64, compression="gzip", chunks=(17,))
        anndata_group(file, "float32", a, value=np.float32)
        anndata_group(file, "csc", a.tocsc(), compression="gzip", shuffle=True, chunks=(100,))
        anndata_group(file, "layers/wide", b, index=np.uint16)
        anndata_group(file, "tall", sp.csc_matrix(b.T), index=np.uint64)
        anndata_group(file, "counts", sp.csr_matrix(np.rint(a * 10)), value=np.int16)
        anndata_group(file, "pattern", a != 0)
        anndata_group(file, "big_endian", a, index=">i4", value=">f8")
        anndata_group(file, "half", a, value=np.float16)
    for group in ("csr32", "csr64", "csc", "big_endian"):
        out.expect("anndata.h5", a, group)
    out.expect("anndata.h5", a.astype(np.float32), "/float32")
    out.expect("anndata.h5", a.astype(np.float32).toarray().astype(np.float16), "/half")
    out.expect("anndata.h5", b, "layers/wide")
    out.expect("anndata.h5", b.T, "/tall")
    out.expect("anndata.h5", np.rint(a * 10), "counts")
    out.expect("anndata.h5", a != 0, "pattern")

    with h5py.File(out.path("unsorted.h5"), "w") as file:
        shuffled = a.tocoo()
        order = np.random.default_rng(3).permutation(shuffled.nnz)
        order = np.concatenate([order, order[:50]])  # duplicates
        i, j, v = shuffled.row[order], shuffled.col[order], shuffled.data[order]
        order = np.argsort(i, kind="stable")
        unsorted = sp.csr_matrix(a.shape)
        unsorted.data, unsorted.indices = v[order], j[order]
        unsorted.indptr = np.concatenate([[0], np.cumsum(np.bincount(i, minlength=a.shape[0]))])
        anndata_group(file, "A", unsorted)
    out.expect("unsorted.h5", sp.coo_matrix((v, (i, j)), shape=a.shape))  # the only group: no name needed

    with h5py.File(out.path("plain_h5py.h5"), "w") as file:  # arrays at the root, shape as a dataset, format as a string
        file["data"], file["indices"], file["indptr"] = b.data, b.indices, b.indptr
        file["shape"], file["format"] = b.shape, "csr"
    out.expect("plain_h5py.h5", b, "/")
    out.expect("plain_h5py.h5", b)
    with h5py.File(out.path("old_anndata.h5"), "w") as file:
        c = a.tocsc()
        group = file.create_group("X")
        group.attrs["h5sparse_format"], group.attrs["h5sparse_shape"] = "csc", c.shape
        group["data"], group["indices"], group["indptr"] = c.data, c.indices, c.indptr
    out.expect("old_anndata.h5", a)
    with h5py.File(out.path("unsaid.h5"), "w") as file:  # nothing says by rows or by columns
        for name, m in (("symmetric", symmetric_part(a)), ("wide", b), ("tall", sp.csc_matrix(b))):
            group = file.create_group(name)
            group["data"], group["indices"], group["indptr"], group["shape"] = m.data, m.indices, m.indptr, m.shape
    out.expect("unsaid.h5", symmetric_part(a), "symmetric")
    out.expect("unsaid.h5", b, "wide")
    out.expect("unsaid.h5", b, "tall")
    with h5py.File(out.path("latest.h5"), "w", libver="latest") as file:
        anndata_group(file, "A", a, chunks=(64,), maxshape=(None,))
    out.expect("latest.h5", a)
    with h5py.File(out.path("tiny.h5"), "w") as file:
        anndata_group(file, "one", sp.csr_matrix([[2.5]]))
        anndata_group(file, "no_nonzeros", sp.csr_matrix((5, 5)))
        anndata_group(file, "one_row", sp.csr_matrix((1, 3)))
    for name, m in (("one", [[2.5]]), ("no_nonzeros", np.zeros((5, 5))), ("one_row", np.zeros((1, 3)))):
        out.expect("tiny.h5", m, name)

    matlab_file(out.path("matlab.mat"), {"A": a, "B": b, "mask": a != 0, "zero": sp.csc_matrix((6, 4))})
    for name, m in (("A", a), ("B", b), ("mask", a != 0), ("zero", np.zeros((6, 4)))):
        out.expect("matlab.mat", m, name)


def bad_hdf5(out):
    a = random_matrix(60, 60, 4, 4)

    def broken(name, words, change, dataset="A", **options):
        with h5py.File(out.path(name), "w") as file:
            group = anndata_group(file, "A", a, **options)
            change(group)
        out.refuse(name, [name] + words, dataset)

    def put(array, at, value):
        def change(group):
            group[array][at] = value
        return change

    def replace(array, values):
        def change(group):
            del group[array]
            group[array] = values
        return change

    broken("indptr_order.h5", ["/A/indptr", "not monotone", "element 8"], put("indptr", 7, 150))
    broken("indptr_start.h5", ["/A/indptr", "starts with 1"], put("indptr", 0, 1))
    broken("indptr_end.h5", ["/A/indptr", "ends with", str(a.nnz)], put("indptr", 60, a.nnz - 1))
    broken("indptr_negative.h5", ["/A/indptr", "-3"], put("indptr", slice(0, 61), -3))
    broken("indptr_short.h5", ["/A/indptr", "60 elements", "61"], replace("indptr", a.indptr[:-1]))
    broken("index_large.h5", ["/A/indices", "element 11 is 60", "0 to 59"], put("indices", 11, 60))
    broken("index_negative.h5", ["/A/indices", "element 200 is -1"], put("indices", 200, -1))
    broken("lengths.h5", ["/A/indices", "/A/data"], replace("data", a.data[:-1]))
    broken("float_index.h5", ["/A/indices", "float64", "integers"], replace("indices", a.indices.astype(float)))
    broken("complex.h5", ["/A/data", "complex"], replace("data", a.data + 1j))
    broken("text.h5", ["/A/data", "numbers"], replace("data", np.full(a.nnz, b"x")))
    broken("two_dims.h5", ["/A/data", "2 dimensions"], replace("data", a.data.reshape(1, -1)))
    broken("nan.h5", ["/A/data", "nan", "finite"], put("data", 5, np.nan))
    broken("inf.h5", ["/A/data", "inf", "finite"], put("data", a.nnz - 1, np.inf))
    broken("lzf.h5", ["/A/", "lzf", "32000"], lambda group: None, compression="lzf")
    broken("no_shape.h5", ["/A", "shape"], lambda group: group.attrs.__delitem__("shape"))
    broken("odd_shape.h5", ["/A", "shape"], lambda group: group.attrs.__setitem__("shape", [60]))
    broken("fraction_shape.h5", ["/A", "shape", "60.5"], lambda group: group.attrs.__setitem__("shape", [60.5, 60.0]))
    broken("endless_shape.h5", ["/A", "shape", "9223372036854775807"],
           lambda group: group.attrs.__setitem__("shape", np.array([2**63 - 1, 60])))
    broken("unsigned_shape.h5", ["/A", "shape", "9223372036854775807"],
           lambda group: group.attrs.__setitem__("shape", np.array([60, 2**64 - 1], dtype=np.uint64)))
    broken("negative_shape.h5", ["/A", "shape"], lambda group: group.attrs.__setitem__("shape", [-60, 60]))
    broken("wrong_shape.h5", ["/A/indptr", "(59, 60)", "60"], lambda group: group.attrs.__setitem__("shape", [59, 60]))
    broken("bsr.h5", ["/A", "bsr_matrix"], lambda group: group.attrs.__setitem__("encoding-type", "bsr_matrix"))
    broken("unsaid_unsymmetric.h5", ["/A", "by rows or by columns"], lambda group: group.attrs.__delitem__("encoding-type"))
    broken("no_data.h5", ["/A/data", "missing"], lambda group: group.__delitem__("data"))

    def unwritten(group):
        del group["data"]
        group.create_dataset("data", shape=(a.nnz,), dtype="f8")
    broken("unwritten.h5", ["/A/data", "nothing was ever written"], unwritten)

    with h5py.File(out.path("several.h5"), "w") as file:
        anndata_group(file, "K", a)
        anndata_group(file, "obsp/M", a)
        file["V"] = np.ones((60, 3))
        file.create_group("empty")
    out.refuse("several.h5", ["several.h5", "/K", "/obsp/M", "dataset"])
    out.refuse("several.h5", ["several.h5", "/L", "/K", "/obsp/M"], "/L")
    out.refuse("several.h5", ["several.h5:/V", "is a dataset"], "V")
    out.refuse("several.h5", ["several.h5:/empty", "group without"], "empty")
    with h5py.File(out.path("dense.h5"), "w") as file:
        file["A"] = np.eye(5)
    out.refuse("dense.h5", ["dense.h5", "no sparse matrix"])

    with h5py.File(out.path("whole.h5"), "w") as file:
        anndata_group(file, "A", a, chunks=(50,), compression="gzip", fletcher32=True)
        place = file["A/data"].id.get_chunk_info(1).byte_offset
    whole = open(out.path("whole.h5"), "rb").read()
    for name, content, words in (
            ("truncated.h5", whole[:len(whole) // 2], ["truncated.h5: is cut off", "truncated"]),
            ("header_only.h5", whole[:64], ["header_only.h5: is cut off"]),
            ("corrupt_chunk.h5", whole[:place + 20] + bytes(8) + whole[place + 28:], ["corrupt_chunk.h5:/A/data", "damaged"]),
            ("corrupt_head.h5", whole[:40] + b"\xff" * 40 + whole[80:], ["corrupt_head.h5", "damaged"]),
            ("corrupt_tree.h5", whole.replace(b"TREE", b"EERT"), ["corrupt_tree.h5", "damaged"]),
            ("corrupt_heap.h5", whole.replace(b"HEAP", b"PEAH"), ["corrupt_heap.h5", "damaged"])):
        with open(out.path(name), "wb") as file:
            file.write(content)
        out.refuse(name, words, "A")


# ---- SciPy .npz ----

def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def write_npz(path, arrays, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, array in arrays.items():
            archive.writestr(name + ".npy", array if isinstance(array, bytes) else npy(array))


def npz_files(out):
    a = random_matrix(130, 170, 5, 5)
    for kind in ("csr", "csc", "coo"):
        for compressed in (True, False):
            name = f"{kind}_{'compressed' if compressed else 'stored'}.npz"
            sp.save_npz(out.path(name), a.asformat(kind), compressed=compressed)
            out.expect(name, a)
    wide = a.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    base = {"format": np.array(b"csr"), "shape": np.array(a.shape), "data": a.data, "indices": a.indices, "indptr": a.indptr}
    write_npz(out.path("int64.npz"), {**base, "indices": wide.indices, "indptr": wide.indptr})
    write_npz(out.path("unicode_format.npz"), {**base, "format": np.array("csr")})
    write_npz(out.path("big_endian.npz"), {**base, "data": a.data.astype(">f8"), "indices": a.indices.astype(">i8")})
    write_npz(out.path("version2.npz"), {**base, "data": (lambda b: b[:6] + b"\x02\x00" + b[8:10] + b"\0\0" + b[10:])(npy(a.data))})
    for name in ("int64.npz", "unicode_format.npz", "big_endian.npz", "version2.npz"):
        out.expect(name, a)
    for dtype in (np.float32, np.int8, bool):
        b = (a * 20).astype(dtype)
        sp.save_npz(out.path(f"{np.dtype(dtype).name}.npz"), b)
        out.expect(f"{np.dtype(dtype).name}.npz", b.astype(float))
    duplicates = sp.coo_matrix((np.tile(a.data, 2), (np.tile(a.tocoo().row, 2), np.tile(a.tocoo().col, 2))), shape=a.shape)
    sp.save_npz(out.path("duplicates.npz"), duplicates)
    out.expect("duplicates.npz", 2 * a)

    def broken(name, words, **arrays):
        merged = {key: value for key, value in {**base, **arrays}.items() if value is not None}
        write_npz(out.path(name), merged)
        out.refuse(name, [name] + words)

    def changed(array, at, value):
        array = array.copy()
        array[at] = value
        return array

    broken("npz_indptr.npz", ["indptr", "not monotone"], indptr=changed(a.indptr, 9, 600))
    broken("npz_index.npz", ["indices", "element 77 is 170"], indices=changed(a.indices, 77, 170))
    broken("npz_nan.npz", ["data", "nan"], data=changed(a.data, 300, np.nan))
    broken("npz_complex.npz", ["data", "complex"], data=a.data.astype(complex))
    broken("npz_object.npz", ["data", "object"], data=a.data.astype(object))
    broken("npz_lengths.npz", ["data", "indices"], data=a.data[:-1])
    broken("npz_no_data.npz", ["data: is not in the archive"], data=None)
    broken("npz_not_sparse.npz", ["save_npz"], format=None)
    broken("npz_shape.npz", ["indptr", "(131, 170)"], shape=np.array([131, 170]))
    broken("npz_endless.npz", ["shape is (9223372036854775807, 170)"], shape=np.array([2**63 - 1, 170]))
    broken("npz_damaged_header.npz", ["data", "NumPy array"], data=b"rubbish, rubbish, rubbish")
    broken("npz_short.npz", ["data", "cut off"], data=npy(a.data)[:-20])
    broken("npz_surplus.npz", ["data", "more bytes"], data=npy(a.data) + b"surplus")
    sp.save_npz(out.path("npz_bsr.npz"), sp.bsr_matrix(a, blocksize=(2, 2)))
    out.refuse("npz_bsr.npz", ["npz_bsr.npz", "bsr", "tocsr"])
    whole = open(out.path("csr_compressed.npz"), "rb").read()
    with zipfile.ZipFile(out.path("csr_compressed.npz")) as archive:
        member = archive.getinfo("data.npy")
        other = archive.getinfo("indices.npy")
    middle = member.header_offset + member.compress_size // 2
    early = other.header_offset + other.compress_size // 2
    damaged = bytearray(whole)
    for at in (middle, early):
        damaged[at:at + 16] = bytes(16)
    for name, content, words in (("npz_cut.npz", whole[:len(whole) // 2], ["npz_cut.npz", "cut off"]),
                                 ("npz_corrupt.npz", whole[:middle] + bytes(16) + whole[middle + 16:], ["npz_corrupt.npz", "data"]),
                                 ("npz_corrupt_twice.npz", bytes(damaged), ["npz_corrupt_twice.npz", "indices"])):
        with open(out.path(name), "wb") as file:
            file.write(content)
        out.refuse(name, words)


# ---- Matrix Market ----

def matrix_market_files(out):
    a = random_matrix(120, 90, 5, 6)
    square = symmetric_part(random_matrix(140, 140, 3, 7))
    scipy.io.mmwrite(out.path("general.mtx"), a)
    out.expect("general.mtx", scipy.io.mmread(out.path("general.mtx")))
    scipy.io.mmwrite(out.path("symmetric.mtx"), square, symmetry="symmetric")
    out.expect("symmetric.mtx", scipy.io.mmread(out.path("symmetric.mtx")))
    skew = sp.csr_matrix(sp.tril(square, -1) - sp.tril(square, -1).T)
    scipy.io.mmwrite(out.path("skew.mtx"), skew, symmetry="skew-symmetric")
    out.expect("skew.mtx", scipy.io.mmread(out.path("skew.mtx")))
    scipy.io.mmwrite(out.path("integer.mtx"), (a * 100).astype(np.int64), comment="a comment\n of two lines")
    out.expect("integer.mtx", scipy.io.mmread(out.path("integer.mtx")))
    scipy.io.mmwrite(out.path("pattern.mtx"), a, field="pattern")
    out.expect("pattern.mtx", scipy.io.mmread(out.path("pattern.mtx")))
    for name in ("general", "symmetric"):
        text = open(out.path(name + ".mtx"), "rb").read()
        matrix = scipy.io.mmread(out.path(name + ".mtx"))
        with gzip.open(out.path(name + ".mtx.gz"), "wb") as file:
            file.write(text)
        out.expect(name + ".mtx.gz", matrix)
        with open(out.path(name + "_crlf.mtx"), "wb") as file:
            file.write(text.replace(b"\n", b"\r\n"))
        out.expect(name + "_crlf.mtx", matrix)
        with open(out.path(name + "_members.mtx.gz"), "wb") as file:  # as pigz and bgzip write them
            for part in range(0, len(text), 1000):
                file.write(gzip.compress(text[part:part + 1000]))
        out.expect(name + "_members.mtx.gz", matrix)
        with open(out.path(name + "_no_newline.mtx"), "wb") as file:
            file.write(text.rstrip())
        out.expect(name + "_no_newline.mtx", matrix)

    def text_file(name, text):
        with open(out.path(name), "w") as file:
            file.write(text)

    real = "%%MatrixMarket matrix coordinate real general\n"
    text_file("odd_but_right.mtx", "%%matrixmarket MATRIX Coordinate Real General\n%c\n\n  3\t3  7 \n\n% in between\n1 1 +1.5\n 2 2 "
              "-2.5D+01\n3 3 .5\n1 2 5.\n1 2 1e0\n2 3 1e-400\n3   1\t1E2  \n\n")
    out.expect("odd_but_right.mtx", sp.coo_matrix(([1.5, -25, .5, 5, 1, 0, 100], ([0, 1, 2, 0, 0, 1, 2], [0, 1, 2, 1, 1, 2, 0])),
                                                  shape=(3, 3)))
    text_file("upper.mtx", real.replace("general", "symmetric") + "2 2 2\n1 1 4\n1 2 -1\n")
    out.expect("upper.mtx", np.array([[4.0, -1], [-1, 0]]))
    text_file("no_entries.mtx", real + "3 4 0\n")
    out.expect("no_entries.mtx", np.zeros((3, 4)))
    text_file("one.mtx", real + "1 1 1\n1 1 3\n")
    out.expect("one.mtx", [[3.0]])

    def broken(name, text, *words):
        text_file(name, text)
        out.refuse(name, [name] + list(words))

    broken("too_few.mtx", real + "3 3 4\n1 1 1\n2 2 2\n3 3 3\n", "3 entries", "line 2 promises 4")
    broken("too_many.mtx", real + "% c\n3 3 2\n1 1 1\n2 2 2\n3 3 3\n", "3 entries", "line 3 promises 2")
    broken("garbage_after.mtx", real + "2 2 2\n1 1 1\n2 2 2\nthe end\n", "line 5", "the")
    broken("cut_line.mtx", real + "2 2 2\n1 1 1\n2 2\n", "line 4", "value")
    broken("cut_index.mtx", real + "2 2 2\n1 1 1\n2", "line 4", "column")
    broken("row_zero.mtx", real + "2 2 2\n1 1 1\n0 2 1\n", "line 4", "row 0", "1 to 2")
    broken("column_large.mtx", real + "2 2 2\n\n1 1 1\n1 3 1\n", "line 5", "column 3", "1 to 2")
    broken("row_negative.mtx", real + "2 2 1\n-1 2 1\n", "line 3", "row", "-1")
    broken("row_fraction.mtx", real + "2 2 1\n1.5 2 1\n", "line 3", "row", "1.5")
    broken("row_huge.mtx", real + "2 2 1\n99999999999999999999999 2 1\n", "line 3", "row")
    broken("extra_word.mtx", real + "2 2 1\n1 1 1 5\n", "line 3", "5")
    broken("pattern_value.mtx", real.replace("real", "pattern") + "2 2 1\n1 1 1\n", "line 3")
    broken("bad_value.mtx", real + "2 2 1\n1 1 x7\n", "line 3", "x7")
    broken("comma_value.mtx", real + "2 2 1\n1 1 1,5\n", "line 3", "1,5")
    broken("nan.mtx", real + "2 2 2\n1 1 1\n1 2 nan\n", "line 4", "nan", "finite")
    broken("inf.mtx", real + "2 2 1\n1 1 -Infinity\n", "line 3", "Infinity", "finite")
    broken("overflow.mtx", real + "2 2 1\n1 1 1e400\n", "line 3", "1e400", "finite")
    broken("sum_overflow.mtx", real + "2 2 2\n1 1 1e308\n1 1 1e308\n", "finite")
    broken("complex.mtx", real.replace("real", "complex") + "1 1 1\n1 1 1 2\n", "line 1", "complex")
    broken("hermitian.mtx", real.replace("general", "hermitian") + "1 1 1\n1 1 1\n", "line 1", "hermitian")
    broken("field.mtx", real.replace("real", "quaternion") + "1 1 1\n1 1 1\n", "line 1", "quaternion")
    broken("symmetry.mtx", real.replace("general", "symetric") + "1 1 1\n1 1 1\n", "line 1", "symetric")
    broken("short_banner.mtx", "%%MatrixMarket matrix coordinate real\n1 1 1\n1 1 1\n", "line 1", "4 words")
    broken("vector.mtx", real.replace("matrix coord", "vector coord") + "1 1 1\n1 1 1\n", "line 1", "vector")
    broken("array.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", "dense array")
    broken("no_banner.mtx", "3 3 1\n1 1 1\n", "%%MatrixMarket")
    broken("no_sizes.mtx", real + "% only\n% comments\n", "ends before")
    broken("sizes_two.mtx", real + "2 2\n1 1 1\n", "line 2", "2 numbers")
    broken("sizes_word.mtx", real + "2 two 1\n1 1 1\n", "line 2", "two")
    broken("sizes_negative.mtx", real + "2 2 -1\n1 1 1\n", "line 2", "-1")
    broken("not_square.mtx", real.replace("general", "symmetric") + "2 3 1\n1 1 1\n", "line 2", "symmetric")
    broken("both_triangles.mtx", real.replace("general", "symmetric") + "2 2 3\n1 1 1\n2 1 5\n1 2 5\n", "below", "above")
    broken("skew_diagonal.mtx", real.replace("general", "skew-symmetric") + "2 2 2\n2 1 1\n2 2 5\n", "line 4", "diagonal")
    broken("empty.mtx", "", "is empty")
    late = "".join(f"{i} {i} 1.0\n" for i in range(1, 20001))
    broken("late_error.mtx", real + f"20000 20000 20000\n{late}".replace("15000 15000 1.0", "15000 15000 oops"), "line 15002", "oops")

    whole = open(out.path("general.mtx.gz"), "rb").read()
    for name, content, words in (
            ("cut.mtx.gz", whole[:len(whole) // 2], ["cut off"]),
            ("no_checksum.mtx.gz", whole[:-8], ["cut off"]),
            ("bad_checksum.mtx.gz", whole[:-8] + bytes(4) + whole[-4:], ["damaged"]),
            ("corrupt.mtx.gz", whole[:400] + b"\xff" * 30 + whole[430:], ["damaged"]),
            ("surplus.mtx.gz", whole + b"surplus", ["after its end"]),
            ("late_error.mtx.gz", gzip.compress(open(out.path("late_error.mtx"), "rb").read()), ["line 15002", "oops"]),
            ("other.mtx.gz", gzip.compress(b"something else\n" * 50), ["Matrix Market"])):
        with open(out.path(name), "wb") as file:
            file.write(content)
        out.refuse(name, [name] + words)
    with gzip.open(out.path("padded.mtx.gz"), "wb") as file:
        file.write(open(out.path("general.mtx"), "rb").read())
    with open(out.path("padded.mtx.gz"), "ab") as file:
        file.write(bytes(100))
    out.expect("padded.mtx.gz", a)


# ---- PETSc binary ----

def petsc_bytes(a, index=">i4", value=">f8"):
    """What PETSc's viewer writes; checked against PETSc itself where petsc4py is installed."""
    a = sp.csr_matrix(a)
    header = np.array([1211216, a.shape[0], a.shape[1], a.nnz], dtype=index)
    return b"".join(part.tobytes() for part in (header, np.diff(a.indptr).astype(index), a.indices.astype(index),
                                                a.data.astype(value)))


def load_petsc():
    for folder in ["", *glob.glob("/usr/lib/petscdir/petsc*/*real*/lib/python3/dist-packages")]:
        if folder:
            sys.path.append(folder)
        try:
            import petsc4py
            petsc4py.init([])
            from petsc4py import PETSc
            return PETSc
        except ImportError:
            continue
    return None


def write_petsc(petsc, path, a, vector=None):
    a = sp.csr_matrix(a)
    a.sort_indices()
    matrix = petsc.Mat().createAIJ(size=a.shape, csr=(a.indptr.astype(np.int32), a.indices.astype(np.int32), a.data))
    viewer = petsc.Viewer().createBinary(path, "w")
    matrix.view(viewer)
    if vector is not None:
        petsc.Vec().createWithArray(vector).view(viewer)
    viewer.destroy()


def petsc_files(out, petsc):
    a = random_matrix(110, 140, 5, 8)

    def put(name, content):
        with open(out.path(name), "wb") as file:
            file.write(content)

    if petsc is not None:
        write_petsc(petsc, out.path("viewer.petsc"), a)
        out.expect("viewer.petsc", a)
        if open(out.path("viewer.petsc"), "rb").read() != petsc_bytes(a):
            raise SystemExit("PETSc's viewer writes something else than petsc_bytes()")
        write_petsc(petsc, out.path("with_vector.petsc"), a, np.arange(7.0))
        out.expect("with_vector.petsc", a)
    put("plain.petsc", petsc_bytes(a))
    put("int64.petsc", petsc_bytes(a, index=">i8"))
    put("single.petsc", petsc_bytes(a.astype(np.float32), value=">f4"))
    out.expect("plain.petsc", a)
    out.expect("int64.petsc", a)
    out.expect("single.petsc", a.astype(np.float32))

    whole = petsc_bytes(a)
    lengths = 16
    indices = lengths + 4 * a.shape[0]
    values = indices + 4 * a.nnz

    def overwrite(at, content):
        return whole[:at] + content + whole[at + len(content):]

    for name, content, words in (
            ("cut.petsc", whole[:-100], ["cut off"]),
            ("cut_early.petsc", whole[:200], ["cut off"]),
            ("cut_header.petsc", whole[:10], ["cut off"]),
            ("garbage.petsc", whole + b"garbage!", ["no PETSc object"]),
            ("complex.petsc", petsc_bytes(a.astype(complex), value=">c16"), ["complex"]),
            ("dense.petsc", struct.pack(">4i", 1211216, 3, 3, -1) + bytes(72), ["dense"]),
            ("vector.petsc", struct.pack(">2i", 1211214, 3) + bytes(24), ["vector"]),
            ("little_endian.petsc", petsc_bytes(a, index="<i4", value="<f8"), ["little-endian"]),
            ("negative_rows.petsc", overwrite(4, struct.pack(">i", -5)), ["-5 rows"]),
            ("many_rows.petsc", overwrite(4, struct.pack(">i", 2**31 - 2)), ["cut off"]),
            ("many_nonzeros.petsc", overwrite(12, struct.pack(">i", 2**31 - 2)), ["cut off"]),
            ("lengths.petsc", overwrite(lengths + 40, struct.pack(">i", 0)), ["row lengths add up"]),
            ("negative_length.petsc", overwrite(lengths + 40, struct.pack(">i", -2)), ["row 10 is -2"]),
            ("index.petsc", overwrite(indices + 4 * 33, struct.pack(">i", 140)), ["column numbers", "element 33 is 140"]),
            ("nan.petsc", overwrite(values + 8 * 90, struct.pack(">d", float("nan"))), ["values", "nan"])):
        put(name, content)
        out.refuse(name, [name] + words)


# ---- large ones, dense blocks, others ----

def large_chunks(out, a, narrow):
    """Lists in chunks, in every way in which HDF5's own filters pack them, whole and damaged."""
    packed = {"compression": "gzip", "compression_opts": 1}
    with h5py.File(out.path("large_chunks.h5"), "w") as file:
        anndata_group(file, "checked", a, index=np.uint32, chunks=(50001,), shuffle=True, fletcher32=True, **packed)
        anndata_group(file, "float32", narrow, index=np.int64, chunks=(40000,), shuffle=True, **packed)
        group = anndata_group(file, "some_unpacked", a, chunks=(30000,), shuffle=True, fletcher32=True, **packed)
        group["data"].id.write_direct_chunk((30000,), a.data[30000:60000].tobytes(), 7)  # bits of filters left out
    with h5py.File(out.path("large_chunks_offset.h5"), "w", userblock_size=1024) as file:
        anndata_group(file, "plain", a, index=np.uint64, chunks=(40000,))
    for name in ("checked", "some_unpacked"):
        out.expect("large_chunks.h5", a, f"/{name}")
    out.expect("large_chunks.h5", narrow.astype(np.float64), "/float32")
    out.expect("large_chunks_offset.h5", a, "/plain")
    with h5py.File(out.path("large_chunks.h5")) as file:
        chunks = {name: file[name].id.get_chunk_info(3) for name in ("checked/data", "float32/indices")}
    with open(out.path("large_chunks.h5"), "rb") as file:
        whole = file.read()
    for number, (name, chunk) in enumerate(chunks.items()):
        place = chunk.byte_offset + chunk.size // 2
        damaged = f"large_chunks_damaged{number}.h5"
        with open(out.path(damaged), "wb") as file:
            file.write(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
        out.refuse(damaged, [f"{damaged}:/{name}", "damaged"], "/" + name.split("/")[0])


def large_files(out, petsc):
    a = random_matrix(LARGE, LARGE, 5, 9)
    with h5py.File(out.path("large.h5"), "w") as file:
        anndata_group(file, "csr", a)
        anndata_group(file, "csc", a.tocsc(), compression="gzip", compression_opts=1)
    narrow = sp.csr_matrix((a.data.astype(np.float32), a.indices, a.indptr), shape=a.shape)
    large_chunks(out, a, narrow)
    with h5py.File(out.path("large_offset.h5"), "w", userblock_size=512) as file:  # bytes of others come first
        anndata_group(file, "A", narrow, np.int64)
    with h5py.File(out.path("large_linked.h5"), "w") as file:
        group = file.create_group("A")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", np.array(a.shape, dtype=np.int64)
        for name in ("data", "indices", "indptr"):
            group[name] = h5py.ExternalLink("large.h5", f"/csr/{name}")
    matlab_file(out.path("large.mat"), {"A": a})
    sp.save_npz(out.path("large.npz"), a)
    sp.save_npz(out.path("large_stored.npz"), a.tocsc(), compressed=False)
    with open(out.path("large_stored.npz"), "rb") as file:
        damaged = bytearray(file.read())
    damaged[len(damaged) // 2] ^= 16
    with open(out.path("large_flipped.npz"), "wb") as file:
        file.write(damaged)
    out.refuse("large_flipped.npz", ["large_flipped.npz", "data", "CRC"])
    scipy.io.mmwrite(out.path("large.mtx"), a)
    with open(out.path("large.mtx"), "rb") as text, gzip.open(out.path("large.mtx.gz"), "wb", 6) as file:
        file.write(text.read())
    with open(out.path("large.petsc"), "wb") as file:
        file.write(petsc_bytes(a))
    if petsc is not None:
        write_petsc(petsc, out.path("large.petsc"), a)
    began = time.perf_counter()
    read = scipy.io.mmread(out.path("large.mtx"))
    seconds = time.perf_counter() - began
    with open(out.path("scipy_mmread.txt"), "w") as file:
        file.write(f"{os.path.getsize(out.path('large.mtx')) / seconds / 1e6:.1f}\n")
    out.expect("large.mtx", read)
    out.expect("large.mtx.gz", read)
    out.expect("large.h5", a, "/csr")
    out.expect("large.h5", a, "/csc")
    out.expect("large.mat", a, "/A")
    out.expect("large_linked.h5", a, "/A")
    out.expect("large_offset.h5", narrow.astype(np.float64), "/A")
    for name in ("large.npz", "large_stored.npz", "large.petsc"):
        out.expect(name, a)


def dense_files(out):
    """Blocks of vectors; the test knows what is in them: element (i, j) is i + j / 16."""
    block = np.arange(83)[:, None] + np.arange(5)[None, :] / 16
    with h5py.File(out.path("block.h5"), "w") as file:
        file["V"] = block
        file.create_dataset("float32", data=block.astype(np.float32), chunks=(10, 2), compression="gzip")
        file["first"], file["second"] = block[:, 0], block[:, 1]
        file["short"] = block[:7, 0]
        file["cube"] = np.zeros((3, 3, 3))
        file["complex"] = block + 1j
        file["nan"] = np.where(block == 20 + 3 / 16, np.nan, block)
        file.create_group("group")
        matlab = file.create_dataset("matlab", data=block.T)
        matlab.attrs.create("MATLAB_class", np.bytes_("double"))
    with h5py.File(out.path("endless.h5"), "w") as file:
        file.create_dataset("V", shape=(64, 2**58), dtype="f8", chunks=(8, 8))  # 2^64 elements, none written
    with h5py.File(out.path("only_block.h5"), "w") as file:
        file["V"] = block
    scipy.io.mmwrite(out.path("block.mtx"), block)
    with open(out.path("block.mtx"), "rb") as text, gzip.open(out.path("block.mtx.gz"), "wb") as file:
        file.write(text.read())
    with open(out.path("short_block.mtx"), "w") as file:
        file.write("%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4\n5\n")


def other_files(out):
    os.makedirs(out.path("folder.h5"), exist_ok=True)
    out.refuse("folder.h5", ["folder.h5", "is a directory"])
    out.refuse("missing.mtx", ["missing.mtx", "no such file"])
    out.refuse("missing/folder.npz", ["missing/folder.npz", "no such file"])
    for name, content, words in (("empty.h5", b"", ["is empty"]),
                                 ("dense.npy", npy(np.eye(3)), ["dense NumPy array"]),
                                 ("old.mat", b"MATLAB 5.0 MAT-file, Platform".ljust(200), ["v7.3"]),
                                 ("text.txt", b"just a text\n", ["%%MatrixMarket"]),
                                 ("noise.bin", bytes(range(200, 256)) + bytes(range(200)), ["no format"])):
        with open(out.path(name), "wb") as file:
            file.write(content)
        out.refuse(name, [name] + words)
    out.refuse("general.mtx", ["general.mtx", "dataset"], "/A")


def real_matrices(out, folder):
    for path in sorted(glob.glob(os.path.join(folder, "*.mtx.gz"))):
        out.expect(os.path.abspath(path), scipy.io.mmread(path))


def fingerprint(petsc):
    with open(__file__, "rb") as script:
        digest = hashlib.sha256(script.read())
    matrices = sorted(glob.glob(os.path.join(sys.argv[2], "*.mtx.gz"))) if len(sys.argv) > 2 else []
    digest.update(repr((matrices, petsc is not None, scipy.__version__, h5py.__version__)).encode())
    return digest.hexdigest()


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    petsc = load_petsc()
    stamp = os.path.join(folder, "stamp.txt")
    if os.path.exists(stamp) and open(stamp).read() == fingerprint(petsc):
        print(f"{folder} is up to date")
        return
    out = Writer(folder)
    good_hdf5(out)
    bad_hdf5(out)
    npz_files(out)
    matrix_market_files(out)
    petsc_files(out, petsc)
    dense_files(out)
    other_files(out)
    if len(sys.argv) > 2:
        real_matrices(out, sys.argv[2])
    large_files(out, petsc)
    out.finish()
    with open(stamp, "w") as file:
        file.write(fingerprint(petsc))
    print(f"{len(out.good)} matrices and {len(out.bad)} broken files in {folder}; "
          f"petsc4py {'is there' if petsc else 'is missing: PETSc files are imitated'}")


if __name__ == "__main__":
    main()
