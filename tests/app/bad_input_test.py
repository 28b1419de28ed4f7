"""Bad input gets one clear error, exit code 2, from one rank: no hang, no crash, no half-written file."""

import gzip
import os

import harness
import h5py
import numpy as np
import scipy.io
import scipy.sparse as sp

FILE = "matrix: {{file: {0}}}\neigensolver: {{pairs: 3}}\noutput: {{file: result.h5}}\n"
GENERATED = "matrix: {generate: laplacian1d, size: [60]}\neigensolver: {pairs: 3}\noutput: {file: result.h5}\n"


def write_csr(path, matrix, **replaced):
    """An AnnData group with some arrays replaced."""
    matrix = sp.csr_matrix(matrix)
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    parts.update(replaced)
    with h5py.File(path, "w") as file:
        group = file.create_group("A")
        group.attrs["encoding-type"] = "csr_matrix"
        group.attrs["encoding-version"] = "0.1.0"
        group.attrs["shape"] = matrix.shape
        for name, values in parts.items():
            group[name] = values


class BadConfig(harness.AppTest):
    def refuse(self, text, *words, overrides=(), code=2):
        self.assert_refused(self.run_program(self.config(text), *overrides), code, words)

    def test_misspelt_key(self):
        self.refuse("matrix: {generate: laplacian1d, size: [60]}\neigensolver:\n  tolerence: 1.0e-6\n",
                    "run.yaml:3", "eigensolver.tolerence", "did you mean 'tolerance'")

    def test_wrong_type(self):
        self.refuse("matrix: {generate: laplacian1d, size: [60]}\neigensolver:\n  pairs: many\n",
                    "run.yaml:3", "eigensolver.pairs", "an integer", "'many'")

    def test_override_of_unknown_key(self):
        self.refuse(GENERATED, "command line", "eigensolver.pears=4", "'pairs'", overrides=["eigensolver.pears=4"])

    def test_word_in_place_of_a_section(self):
        for key, word, answer in (("eigensolver.preconditioner", "amg", "{type: amg}"),
                                  ("linear_solver.preconditioner", "amg", "{type: amg}"),
                                  ("output", "x.h5", "{file: x.h5}"), ("matrix", "a.mtx", "{file: a.mtx}"),
                                  ("eigensolver.initial", "x.h5", "{file: x.h5}")):
            self.refuse(GENERATED, "command line", key, answer, overrides=[f"{key}={word}"])

    def test_result_in_place_of_the_matrix(self):
        """Under another name of the same file, too."""
        name = self.save(harness.laplacian(60), "a_matrix.npz")
        os.symlink(name, self.path("link.npz"))
        before = open(self.path(name), "rb").read()
        for output in (name, "link.npz"):
            text = f"matrix: {{file: {name}}}\neigensolver: {{pairs: 3}}\noutput: {{file: {output}}}\n"
            self.refuse(text, "would replace what it is made from")
        self.assertEqual(open(self.path(name), "rb").read(), before)

    def test_broken_yaml(self):
        self.refuse("matrix: {file: a.h5\n", "run.yaml", "not valid YAML")

    def test_bytes_that_are_no_text(self):
        with open(self.path("run.yaml"), "wb") as file:
            file.write(bytes(range(256)) * 100)
        self.assert_refused(self.run_program("run.yaml"), 2, ["run.yaml"])

    def test_config_is_a_matrix(self):
        name = self.save(harness.laplacian(60), "a_matrix.npz")
        self.assert_refused(self.run_program(name), 2, ["not a config", "matrix: {file: "])

    def test_mistyped_option_alone(self):
        self.assert_refused(self.run_program("--chekc"), 2, ["--chekc"])

    def test_config_is_missing(self):
        self.assert_refused(self.run_program("nowhere.yaml"), 2, [self.path("nowhere.yaml")])

    def test_config_is_a_folder(self):
        self.assert_refused(self.run_program("."), 2, [self.folder, "directory"])

    def test_unknown_option(self):
        self.assert_refused(self.run_program("--chek", self.config(GENERATED)), 2, ["--chek", "--help"])

    def test_no_config(self):
        self.assert_refused(self.run_program(), 2, ["CONFIG"])

    def test_bad_generator_option(self):
        self.refuse("matrix: {generate: laplacian3d, size: [4, 4]}\noutput: {file: result.h5}\n", "size")

    def test_more_pairs_than_rows(self):
        self.refuse(GENERATED, "eigensolver.pairs", "61", "60 rows", overrides=["eigensolver.pairs=61"])

    def test_output_folder_is_missing(self):
        self.refuse(GENERATED, self.path("no/where"), "does not exist", overrides=["output.file=no/where/result.h5"])

    def test_output_folder_is_a_file(self):
        self.refuse(GENERATED, "run.yaml", "is not a folder", overrides=["output.file=run.yaml/result.h5"])

    def test_output_is_a_folder(self):
        os.mkdir(self.path("out"))
        self.refuse(GENERATED, self.path("out"), "folder", overrides=["output.file=out"])

    def test_output_folder_is_not_writable(self):
        # Root may write anywhere but where the kernel itself says no.
        folder = "/sys/kernel" if os.geteuid() == 0 else "/"
        self.refuse(GENERATED, f"{folder.rstrip('/')}/result.h5", "cannot be written",
                    overrides=[f"output.file={folder}/result.h5"])

    def test_output_is_no_regular_file(self):
        self.refuse(GENERATED, "/dev/null", "regular file", overrides=["output.file=/dev/null"])
        self.assertTrue(os.path.exists("/dev/null") and not os.path.isfile("/dev/null"))

    def test_gpu_where_there_is_none(self):
        if os.path.exists("/dev/nvidia0"):
            self.skipTest("this machine has a GPU")
        self.refuse(GENERATED, "cuda", overrides=["device=cuda"])


class BadMatrix(harness.AppTest):
    def refuse(self, name, *words):
        self.assert_refused(self.run_program(self.config(FILE.format(name))), 2, (os.path.basename(name),) + words)

    def write(self, name, content):
        mode = "wb" if isinstance(content, bytes) else "w"
        with open(self.path(name), mode) as file:
            file.write(content)
        return name

    def test_missing(self):
        self.refuse("nowhere.h5", self.path("nowhere.h5"))

    def test_folder(self):
        os.mkdir(self.path("folder.h5"))
        self.refuse("folder.h5", "directory")

    def test_empty(self):
        self.refuse(self.write("empty.h5", ""))

    def test_something_else(self):
        self.refuse(self.write("page.h5", "<html>not found</html>\n"))

    def test_truncated_hdf5(self):
        write_csr(self.path("whole.h5"), harness.laplacian(4000))
        with open(self.path("whole.h5"), "rb") as file:
            whole = file.read()
        for share in (0.3, 0.9):
            with self.subTest(share=share):
                self.refuse(self.write("cut.h5", whole[: int(share * len(whole))]))

    def test_corrupt_hdf5(self):
        write_csr(self.path("whole.h5"), harness.laplacian(4000))
        with open(self.path("whole.h5"), "rb") as file:
            broken = bytearray(file.read())
        for at in range(96, 2000):
            broken[at] = 0x5A
        self.refuse(self.write("corrupt.h5", bytes(broken)))

    def test_corrupt_compressed_chunk(self):
        matrix = harness.laplacian(20000)
        with h5py.File(self.path("chunk.h5"), "w") as file:
            group = file.create_group("A")
            group.attrs["encoding-type"] = "csr_matrix"
            group.attrs["shape"] = matrix.shape
            group["indices"], group["indptr"] = matrix.indices, matrix.indptr
            data = group.create_dataset("data", data=matrix.data, chunks=(5000,), compression="gzip")
            place = data.id.get_chunk_info(data.id.get_num_chunks() - 1)
        with open(self.path("chunk.h5"), "r+b") as file:
            file.seek(place.byte_offset + place.size // 3)
            file.write(b"\x00\xff" * (place.size // 3))
        self.refuse("chunk.h5")

    def test_not_a_sparse_group(self):
        with h5py.File(self.path("dense.h5"), "w") as file:
            file["A/values"] = np.eye(5)
        self.assert_refused(self.run_program(self.config("matrix: {file: dense.h5, dataset: /A}\n")), 2,
                            ["dense.h5", "/A"])

    def test_groups_that_hold_each_other(self):
        """As many ways through them as 2^depth; the matrix is found once all the same."""
        write_csr(self.path("a.h5"), harness.laplacian(50))
        with h5py.File(self.path("a.h5"), "r+") as file:
            for name in ("B", "C", "D"):
                file.create_group(name)
            for one, other in (("B", "C"), ("C", "D"), ("D", "B")):
                for k in range(3):
                    file[f"{one}/{k}"] = file[other]
            file["B/matrix"] = file["A"]
        result = self.run_program(self.config(FILE.format("a.h5")))
        self.assertEqual(result.code, 0, result)
        self.assertLess(result.seconds, 10, result)

    def test_many_matrices_are_not_all_named(self):
        with h5py.File(self.path("a.h5"), "w") as file:
            for k in range(300):
                for part in ("data", "indices", "indptr"):
                    file[f"A{k:03}/{part}"] = [0]
        result = self.run_program(self.config(FILE.format("a.h5")))
        self.assert_refused(result, 2, ["/A000, /A001", "and 288 more", "dataset"])

    def test_no_such_dataset(self):
        write_csr(self.path("a.h5"), harness.laplacian(50))
        self.assert_refused(self.run_program(self.config("matrix: {file: a.h5, dataset: /K}\n")), 2, ["a.h5", "/K"])

    def test_indptr_not_monotone(self):
        matrix = harness.laplacian(50)
        indptr = matrix.indptr.copy()
        indptr[30] = 3
        write_csr(self.path("indptr.h5"), matrix, indptr=indptr)
        self.refuse("indptr.h5", "indptr")

    def test_index_out_of_range(self):
        matrix = harness.laplacian(50)
        for wrong in (50, -1):
            with self.subTest(wrong=wrong):
                indices = matrix.indices.copy()
                indices[70] = wrong
                write_csr(self.path("indices.h5"), matrix, indices=indices)
                self.refuse("indices.h5", str(wrong))

    def test_not_finite(self):
        matrix = harness.laplacian(50)
        for wrong, word in ((np.nan, "nan"), (np.inf, "inf")):
            with self.subTest(wrong=word):
                data = matrix.data.copy()
                data[-1] = wrong
                write_csr(self.path("values.h5"), matrix, data=data)
                self.refuse("values.h5", word)

    def test_wrong_counts_in_mtx_header(self):
        scipy.io.mmwrite(self.path("a.mtx"), harness.laplacian(50), symmetry="general")
        with open(self.path("a.mtx"), encoding="ascii") as file:
            lines = file.read().splitlines()
        size = next(i for i, line in enumerate(lines) if not line.startswith("%"))
        for counts in ("50 50 147", "50 50 149", "50 49 148", "fifty 50 148"):
            with self.subTest(counts=counts):
                self.refuse(self.write("counts.mtx", "\n".join(lines[:size] + [counts] + lines[size + 1:]) + "\n"))

    def test_short_mtx(self):
        scipy.io.mmwrite(self.path("a.mtx"), harness.laplacian(500), symmetry="general")
        with open(self.path("a.mtx"), "rb") as file:
            whole = file.read()
        self.refuse(self.write("short.mtx", whole[: len(whole) // 2]))
        self.refuse(self.write("header.mtx", whole[:20]))

    def test_gzip_cut_off(self):
        scipy.io.mmwrite(self.path("a.mtx"), harness.laplacian(5000), symmetry="general")
        with open(self.path("a.mtx"), "rb") as file:
            packed = gzip.compress(file.read())
        self.refuse(self.write("cut.mtx.gz", packed[: 2 * len(packed) // 3]))

    def test_not_symmetric(self):
        matrix = harness.laplacian(60).tolil()
        matrix[7, 33] = 0.5
        self.refuse(self.save(matrix, "skewed.npz"), "symmetric")

    def test_not_symmetric_real_graph(self):
        graph = os.path.join(harness.options.matrices, "p2p-Gnutella31.mtx.gz")
        if not os.path.exists(graph):
            self.skipTest(f"{graph} is not here")
        self.refuse(graph, "symmetric")

    def test_not_square(self):
        self.refuse(self.save(sp.random(40, 30, 0.1, format="csr", random_state=1), "wide.npz"), "40", "30")

    def test_one_triangle(self):
        self.refuse(self.save(sp.triu(harness.laplacian(60)), "upper.npz"), "triangle")

    def test_complex(self):
        matrix = harness.laplacian(40) * (1.0 + 0.0j)
        scipy.io.mmwrite(self.path("complex.mtx"), matrix)
        self.refuse("complex.mtx", "complex")
        sp.save_npz(self.path("complex.npz"), matrix)
        self.refuse("complex.npz", "complex")
        write_csr(self.path("complex.h5"), matrix)
        self.refuse("complex.h5", "complex")


class BadCompanions(harness.AppTest):
    """Files beside the matrix: mass, start vectors, constraints."""

    def refuse(self, more, *words):
        text = f"matrix: {{generate: laplacian1d, size: [60]}}\noutput: {{file: result.h5}}\n{more}\n"
        self.assert_refused(self.run_program(self.config(text)), 2, words)

    def test_mass_of_other_size(self):
        self.save(sp.eye(61), "m.npz")
        self.refuse("mass: {file: m.npz}", "m.npz", "61", "60")

    def test_mass_is_not_positive_definite(self):
        for kind, matrix in (("indefinite", sp.diags(np.r_[-1.0, np.ones(59)])), ("zero", sp.csr_matrix((60, 60)))):
            with self.subTest(kind=kind):
                self.save(matrix, "m.npz")
                self.refuse("mass: {file: m.npz}\neigensolver: {pairs: 2}", "positive definite")

    def test_mass_with_a_positive_diagonal_is_not_positive_definite(self):
        """Before anything is solved, and whether the problem is solved densely or not."""
        for n in (60, 2000):
            free = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n), format="lil")
            free[0, 0] = free[n - 1, n - 1] = 1.0
            for words, matrix in (("x'Bx = -", sp.diags([0.6, 1.0, 0.6], [-1, 0, 1], shape=(n, n))),
                                  ("the entry at (1, 2)", sp.eye(n) + sp.coo_matrix(([1.5, 1.5], ([1, 2], [2, 1])), (n, n))),
                                  ("singular", free)):
                with self.subTest(n=n, words=words):
                    self.save(matrix, "m.npz")
                    text = f"matrix: {{generate: laplacian1d, size: [{n}]}}\noutput: {{file: result.h5}}\n"
                    result = self.run_program(self.config(text + "mass: {file: m.npz}\neigensolver: {pairs: 2}"))
                    self.assert_refused(result, 2, ["mass", "m.npz", "not positive definite", words])
                    self.assertEqual(result.stdout, "", result)

    def test_mass_that_float_makes_indefinite(self):
        n = 600
        mixed = sp.eye(n) + 0.3 * sp.random(n, n, 0.005, random_state=1)
        self.save(sp.csr_matrix(mixed @ sp.diags(np.logspace(0, -9, n)) @ mixed.T), "m.npz")
        text = (f"matrix: {{generate: laplacian1d, size: [{n}]}}\nmass: {{file: m.npz}}\noutput: {{file: result.h5}}\n"
                "eigensolver: {pairs: 6, which: largest, dense_up_to: 0, tolerance: 1e-3}")
        single = self.run_program(self.config(text), "precision=float")
        # As input that is none where x'Bx < 0 is met, else as a run that did not converge.
        self.assertIn(single.code, (2, 4), single)
        self.assertRegex(single.stderr, "try:? precision[:=] ?double|try: .*precision=double")
        self.assertEqual(self.run_program(self.config(text)).code, 0)

    def test_initial_of_other_size(self):
        with h5py.File(self.path("x.h5"), "w") as file:
            file["X"] = np.ones((59, 2))
        self.refuse("eigensolver: {initial: {file: x.h5, dataset: /X}}", "x.h5", "59", "60")

    def test_initial_is_missing(self):
        self.refuse("eigensolver: {initial: {file: x.h5, dataset: /X}}", self.path("x.h5"))

    def test_constraints_not_finite(self):
        with h5py.File(self.path("c.h5"), "w") as file:
            file["V"] = np.full((60, 1), np.nan)
        self.refuse("eigensolver: {constraints: {file: c.h5, dataset: /V}}", "c.h5", "nan")

    def test_constraints_leave_no_room(self):
        with h5py.File(self.path("c.h5"), "w") as file:
            file["V"] = np.eye(60)
        self.refuse("eigensolver: {constraints: {file: c.h5, dataset: /V}}", "c.h5", "do not fit into 60 dimensions")


class OddInputThatWorks(harness.AppTest):
    def eigenvalues(self, text, code=0):
        result = self.run_program(self.config(text))
        self.assertEqual(result.code, code, result)
        self.assertEqual(result.errors(), [], result)
        with h5py.File(self.path("result.h5")) as file:
            return file["eigenvalues"][:]

    def test_as_many_pairs_as_rows(self):
        n = 25
        values = self.eigenvalues(f"matrix: {{generate: laplacian1d, size: [{n}]}}\neigensolver: {{pairs: {n}}}\n"
                                  "output: {file: result.h5}\n")
        np.testing.assert_allclose(values, 2 - 2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1)), rtol=0, atol=1e-13)

    def test_more_ranks_than_rows(self):
        values = self.eigenvalues("matrix: {generate: laplacian1d, size: [2]}\neigensolver: {pairs: 2}\n"
                                  "output: {file: result.h5}\n")
        np.testing.assert_allclose(values, [1.0, 3.0], atol=1e-14)

    def test_one_row(self):
        self.save(np.array([[-2.5]]))
        values = self.eigenvalues("matrix: {file: a.npz}\noutput: {file: result.h5}\n")
        np.testing.assert_allclose(values, [-2.5], atol=1e-15)

    def test_zero_matrix(self):
        self.save(sp.csr_matrix((30, 30)))
        values = self.eigenvalues("matrix: {file: a.npz}\neigensolver: {pairs: 2}\noutput: {file: result.h5}\n")
        np.testing.assert_allclose(values, [0.0, 0.0], atol=1e-15)

    def test_zero_matrix_beyond_the_dense_solver(self):
        self.save(sp.csr_matrix((300, 300)))
        values = self.eigenvalues("matrix: {file: a.npz}\neigensolver: {pairs: 2}\noutput: {file: result.h5}\n")
        np.testing.assert_allclose(values, [0.0, 0.0], atol=1e-15)


if __name__ == "__main__":
    harness.main()
