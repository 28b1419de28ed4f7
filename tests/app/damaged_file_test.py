"""Files that carry checksums, one bit of which is wrong: one message, exit code 2. Files that promise more than there is: refused
before memory is taken. The checksums of results, as docs/formats.md defines them, computed here with NumPy."""

import gzip
import os
import resource
import struct
import zipfile

import harness
import h5py
import numpy as np
import scipy.sparse as sp

N = 60
MASK = (1 << 64) - 1


def checksums(table):
    """Of the columns of `table`, in Python's integers."""
    table = np.asarray(table).reshape(len(table), -1)
    bits = table.view(f"u{table.dtype.itemsize}")
    sums = []
    for column in bits.T:
        total = 0
        for i, value in enumerate(column):
            z = (int(value) + (i + 1) * 0x9e3779b97f4a7c15) & MASK
            z = ((z ^ (z >> 30)) * 0xbf58476d1ce4e5b9) & MASK
            z = ((z ^ (z >> 27)) * 0x94d049bb133111eb) & MASK
            total += z ^ (z >> 31)
        sums.append(total & MASK)
    return sums


class DamagedFile(harness.AppTest):
    def setUp(self):
        super().setUp()
        self.matrix = harness.laplacian(N)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def flip(self, name, place, bit=0):
        with open(self.path(name), "r+b") as file:
            file.seek(place)
            byte = file.read(1)[0]
            file.seek(place)
            file.write(bytes([byte ^ (1 << bit)]))

    def refuse_matrix(self, name, *words, **extra):
        result = self.run_program(self.config(f"matrix: {{file: {name}}}\neigensolver: {{pairs: 2}}\noutput: {{file: result.h5}}"),
                                  **extra)
        self.assert_refused(result, 2, [name, *words])
        return result

    # ---- one flipped bit ----

    def test_zip_crc_of_every_array(self):
        for compressed in (False, True):
            for name in ("data", "indices", "indptr", "shape", "format"):
                with self.subTest(name=name, compressed=compressed):
                    sp.save_npz(self.path("a.npz"), self.matrix, compressed=compressed)
                    with zipfile.ZipFile(self.path("a.npz")) as archive:
                        member = archive.getinfo(name + ".npy")
                    # The checksum itself, in the list at the end: the data are right, and cannot be told to be.
                    content = self.content("a.npz")
                    entry = content.rindex((name + ".npy").encode()) - 46
                    self.assertEqual(struct.unpack_from("<I", content, entry + 16)[0], member.CRC)
                    self.flip("a.npz", entry + 16)
                    self.refuse_matrix("a.npz", name, "CRC")

    def test_zip_stored_shape_of_coordinates(self):
        # Nothing else in the file says how many rows and columns there are.
        sp.save_npz(self.path("a.npz"), self.matrix.tocoo(), compressed=False)
        with zipfile.ZipFile(self.path("a.npz")) as archive:
            place = archive.getinfo("shape.npy").header_offset
        content = self.content("a.npz")
        numbers = content.index(struct.pack("<qq", N, N), place)
        self.flip("a.npz", numbers, 6)
        self.flip("a.npz", numbers + 8, 6)
        self.refuse_matrix("a.npz", "shape", "CRC")

    def test_gzip_crc(self):
        lines = "".join(f"{i + 1} {i + 1} {1 + i / 8}\n" for i in range(N))
        text = f"%%MatrixMarket matrix coordinate real symmetric\n{N} {N} {N}\n{lines}".encode()
        self.write("a.mtx.gz", gzip.compress(text, 0))
        self.flip("a.mtx.gz", self.content("a.mtx.gz").index(b"7 7 1.75") + 6)
        self.refuse_matrix("a.mtx.gz", "damaged", "incorrect data check")

    def test_hdf5_fletcher32(self):
        for name in ("data", "indices", "indptr"):
            with self.subTest(name=name):
                with h5py.File(self.path("a.h5"), "w") as file:
                    group = file.create_group("A")
                    group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", self.matrix.shape
                    for key in ("data", "indices", "indptr"):
                        group.create_dataset(key, data=getattr(self.matrix, key), chunks=(32,), fletcher32=True)
                    place = group[name].id.get_chunk_info(0).byte_offset
                self.flip("a.h5", place + 8)
                self.refuse_matrix("a.h5", "/A/" + name, "damaged")

    def test_hdf5_shape_too_long(self):
        with h5py.File(self.path("a.h5"), "w") as file:
            for key in ("data", "indices", "indptr"):
                file["A/" + key] = getattr(self.matrix, key)
            file.create_dataset("A/shape", (2**47,), "i8", chunks=(16,))[:2] = self.matrix.shape
        self.refuse_matrix("a.h5", "/A/shape", "two integers")

    def test_hdf5_attribute_too_long(self):
        """Its dataspace is changed in the file, where it stands before the two numbers."""
        with h5py.File(self.path("a.h5"), "w") as file:
            group = file.create_group("A")
            for key in ("data", "indices", "indptr"):
                group[key] = getattr(self.matrix, key)
            group.attrs["encoding-type"] = "csr_matrix"
            group.attrs["shape"] = np.array(self.matrix.shape, np.int64)
        content = bytearray(self.content("a.h5"))
        numbers = content.index(struct.pack("<qq", *self.matrix.shape))
        extent = content.rindex(struct.pack("<QQ", 2, 2), 0, numbers)
        content[extent : extent + 16] = struct.pack("<QQ", 2**61, 2**61)
        self.write("a.h5", bytes(content))
        self.refuse_matrix("a.h5", "shape")

    def test_hdf5_impossible_elements(self):
        """What HDF5 itself would read beyond its memory for."""
        def write(layout):
            with h5py.File(self.path("a.h5"), "w") as file:
                for key in ("data", "indices", "indptr"):
                    values = getattr(self.matrix, key)
                    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                    creation.set_layout(layout)
                    space = h5py.h5s.create_simple(values.shape)
                    group = file.require_group("A")
                    dataset = h5py.h5d.create(group.id, key.encode(), h5py.h5t.py_create(values.dtype), space, creation)
                    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, values)
                file["A"].attrs["encoding-type"], file["A"].attrs["shape"] = "csr_matrix", self.matrix.shape
        for layout in (h5py.h5d.COMPACT, h5py.h5d.CONTIGUOUS):
            write(layout)
            entries = struct.pack("<QQ", self.matrix.nnz, self.matrix.nnz)
            content = bytearray(self.content("a.h5"))
            self.assertEqual(content.count(entries), 2)
            self.write("a.h5", content.replace(entries, struct.pack("<QQ", 2 * self.matrix.nnz, 2 * self.matrix.nnz)))
            self.refuse_matrix("a.h5", "is damaged", "bytes for")
        write(h5py.h5d.CONTIGUOUS)
        integers = struct.pack("<BBBBIHH", 0x10, 8, 0, 0, 4, 0, 32)  # of 4 bytes, from bit 0, 32 bits
        content = bytes(self.content("a.h5"))
        self.assertIn(integers, content)
        self.write("a.h5", content.replace(integers, integers[:-2] + struct.pack("<H", 32 * 256)))
        self.refuse_matrix("a.h5", "is damaged", "8192 bits in 4 bytes")

    # ---- results ----

    def solve(self, more="", precision="double"):
        self.save(self.matrix)
        text = (f"matrix: {{file: a.npz}}\nprecision: {precision}\neigensolver: {{pairs: 3, tolerance: 1e-4, dense_up_to: 0, {more}}}\n"
                "output: {file: out.h5}")
        return self.run_program(self.config(text))

    def test_result_has_checksums(self):
        for precision in ("double", "float"):
            with self.subTest(precision=precision):
                self.assertEqual(self.solve(precision=precision).code, 0)
                with h5py.File(self.path("out.h5")) as file:
                    names = []
                    file["checksums"].visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
                    self.assertLessEqual({"eigenvalues", "eigenvectors", "residual_norms", "history/residual_norms"}, set(names))
                    for name in names:
                        stored = [int(value) & MASK for value in file["checksums/" + name]]
                        self.assertEqual(stored, checksums(file[name][()]), name)

    def initial(self, more=""):
        text = (f"matrix: {{file: a.npz}}\neigensolver: {{pairs: 3, initial: {{file: in.h5, dataset: /eigenvectors}}}}\n"
                f"output: {{file: result.h5}}\n{more}")
        return self.run_program(self.config(text))

    def test_flipped_bit_of_initial_vectors(self):
        for precision in ("double", "float"):
            with self.subTest(precision=precision):
                self.assertEqual(self.solve(precision=precision).code, 0)
                os.rename(self.path("out.h5"), self.path("in.h5"))
                good = self.initial()
                self.assertEqual(good.code, 0, good)
                os.remove(self.path("result.h5"))
                with h5py.File(self.path("in.h5")) as file:
                    vectors = file["eigenvectors"]
                    place = vectors.id.get_offset() + (17 * vectors.shape[1] + 1) * vectors.dtype.itemsize
                self.flip("in.h5", place)
                self.assert_refused(self.initial(), 2, ["in.h5:/eigenvectors", "column 1", "checksum"])
                with h5py.File(self.path("in.h5"), "r+") as file:
                    del file["checksums"]
                accepted = self.initial()
                self.assertEqual(accepted.code, 0, accepted)
                os.remove(self.path("result.h5"))

    # ---- promises and words ----

    def test_rows_beyond_memory(self):
        # 2^31 - 1 rows a rank are legal, and take more than this machine has, or than is worth a test.
        rows = (2**31 - 1) * harness.options.ranks
        with open("/proc/meminfo", encoding="utf-8") as file:
            available = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
        if available > 16 * rows:
            self.skipTest("there is memory for so many rows")
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.write("a.mtx", f"%%MatrixMarket matrix coordinate real symmetric\n{rows} {rows} 1\n1 1 2.0\n".encode())
        # Whether the vectors alone are too much or the rows, which depends on what is left.
        self.write("run.yaml", b"matrix: {file: a.mtx}\neigensolver: {pairs: 2}\noutput: {file: result.h5}\n")
        self.assert_refused(self.run_program("run.yaml"), 2, ["GB", "are left"])
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss - before, 1e6)

    def test_npz_that_promises_more_than_it_has(self):
        count = 10**17
        header = {name: f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({count},), }}\n".encode()
                  for name, kind in (("data", "<f8"), ("indices", "<i8"))}
        sp.save_npz(self.path("good.npz"), self.matrix)
        with zipfile.ZipFile(self.path("good.npz")) as good, zipfile.ZipFile(self.path("a.npz"), "w") as archive:
            for member in good.namelist():
                name, content = member[:-4], good.read(member)
                if name in header:
                    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header[name])) + header[name] + bytes(16)
                archive.writestr(member, content)
        self.refuse_matrix("a.npz", "cut off", str(count))

    def test_words_of_a_file_stay_on_one_line(self):
        np.savez(self.path("a.npz"), format=np.array(b"c\n\x1b[2J"), shape=np.array([2, 2]), data=np.ones(2),
                 indices=np.arange(2), indptr=np.arange(3))
        result = self.refuse_matrix("a.npz", "'c??[2J' format")
        self.assertNotIn("\x1b", result.stderr)


if __name__ == "__main__":
    harness.main()
