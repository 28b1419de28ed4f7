"""Writes the inputs that fuzzing starts from: small files of every kind, python3 write_corpus.py [FOLDER [PROGRAMS]].

Results and checkpoints are those of block-eigs and block-solve in the folder PROGRAMS; they are left as they are without it.
"""
import gzip
import io
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np
import scipy.io
import scipy.sparse as sp

folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "corpus")
a = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (6, 6)).tocsr()
wide = sp.random(4, 7, 0.4, random_state=1, format="csr")


def put(reader, name, content):
    os.makedirs(os.path.join(folder, reader), exist_ok=True)
    with open(os.path.join(folder, reader, name), "wb") as file:
        file.write(content)


def hdf5(reader, name, fill, **options):
    buffer = io.BytesIO()
    with h5py.File(buffer, "w", **options) as file:
        fill(file)
    put(reader, name, buffer.getvalue())


def anndata(file, matrix, **options):
    group = file.create_group("A")
    group.attrs["encoding-type"] = matrix.format + "_matrix"
    group.attrs["shape"] = matrix.shape
    for name in ("data", "indices", "indptr"):
        group.create_dataset(name, data=getattr(matrix, name), **options)


def plain(file):
    anndata(file, wide)
    del file["A"].attrs["encoding-type"], file["A"].attrs["shape"]
    file["A/shape"] = np.array(wide.shape)
    file["A/format"] = "csr"


def matlab(file):
    group = file.create_group("A")
    group.attrs["MATLAB_sparse"] = np.uint64(4)
    columns = wide.tocsc()
    group["data"], group["ir"], group["jc"] = columns.data, columns.indices.astype("u8"), columns.indptr.astype("u8")


for version in ("earliest", "latest"):
    hdf5("hdf5_matrix", f"csr_{version}.h5", lambda file: anndata(file, a), libver=version)
    packed = {"chunks": (4,), "compression": "gzip", "shuffle": True, "fletcher32": True}
    hdf5("hdf5_matrix", f"csr_gzip_{version}.h5", lambda file: anndata(file, a, **packed), libver=version)
    hdf5("hdf5_block", f"plain_{version}.h5", lambda file: file.create_dataset("V", data=np.arange(12.0).reshape(6, 2)), libver=version)
    hdf5("hdf5_block", f"chunked_{version}.h5", lambda file: file.create_dataset("V", data=np.arange(12.0).reshape(6, 2), chunks=(4, 1), fletcher32=True, compression="gzip"), libver=version)
hdf5("hdf5_matrix", "csc.h5", lambda file: anndata(file, wide.tocsc()))
hdf5("hdf5_matrix", "plain.h5", plain)
hdf5("hdf5_matrix", "matlab.h5", matlab)
hdf5("hdf5_matrix", "float32.h5", lambda file: anndata(file, wide.astype("f4")))


def dense_matlab(file):
    file["V"] = np.arange(12, dtype="i4").reshape(2, 6)
    file["V"].attrs["MATLAB_class"] = np.bytes_("double")


def result(file):
    file["eigenvalues"] = np.array([1.0, 2.0])
    file["eigenvectors"] = np.arange(12.0).reshape(6, 2)
    file["status"] = np.array([b"converged", b"locked"])
    file.attrs["program"] = "block-eigs"
    file.create_group("checksums")


hdf5("hdf5_block", "matlab.h5", dense_matlab)
hdf5("hdf5_block", "result.h5", result)
hdf5("hdf5_block", "list.h5", lambda file: file.create_dataset("b", data=np.arange(6, dtype="f4")))

for kind in ("csr", "csc", "coo"):
    for compressed in (True, False):
        buffer = io.BytesIO()
        sp.save_npz(buffer, wide.asformat(kind), compressed=compressed)
        put("npz", f"{kind}_{'compressed' if compressed else 'stored'}.npz", buffer.getvalue())

for name, array in (("f8", np.arange(3.0)), ("i4", np.arange(6, dtype=">i4").reshape(2, 3)), ("text", np.array("csr")),
                    ("bytes", np.array(b"csc")), ("bool", np.array([True, False]))):
    buffer = io.BytesIO()
    np.save(buffer, array)
    put("npy_header", name + ".npy", buffer.getvalue())

texts = {"general.mtx": "%%MatrixMarket matrix coordinate real general\n% a comment\n3 4 3\n1 1 2.5\n2 4 -1e3\n3 2 1.0D+03\n",
         "symmetric.mtx": "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n1 1 2\n2 1 -1\n3 3 7\n",
         "skew.mtx": "%%MatrixMarket matrix coordinate real skew-symmetric\r\n3 3 1\r\n2 1 -1\r\n",
         "pattern.mtx": "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n3 3\n",
         "array.mtx": "%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4\n5\n6\n"}
for name, text in texts.items():
    put("matrix_market", name, text.encode())
    put("matrix_market_gzip", name + ".gz", gzip.compress(text.encode(), mtime=0))
two = texts["array.mtx"].encode()
put("matrix_market_gzip", "two_members.mtx.gz", gzip.compress(two[:50], mtime=0) + gzip.compress(two[50:], mtime=0))


def petsc(integers, values):
    csr = wide.tocsr()
    head = np.array([1211216, *csr.shape, csr.nnz], integers).tobytes()
    return head + np.diff(csr.indptr).astype(integers).tobytes() + csr.indices.astype(integers).tobytes() + csr.data.astype(values).tobytes()


for integers in (">i4", ">i8"):
    for values in (">f8", ">f4"):
        put("petsc_binary", f"{integers[1:]}_{values[1:]}.bin", petsc(integers, values))


def run(program, problem, name, limit, vectors):
    """What a run leaves behind that ends at its limit of iterations, and a whole one; of its result the vectors."""
    text = f"matrix: {{generate: laplacian1d, size: [20]}}\noutput: {{file: result.h5}}\ncheckpoint: {{file: state.h5}}\n{problem}\n"
    with tempfile.TemporaryDirectory() as place:
        with open(os.path.join(place, "run.yaml"), "w", encoding="utf-8") as config:
            config.write(text)
        for state, more in (("begun", [limit]), ("finished", [])):
            subprocess.run([os.path.join(os.path.abspath(sys.argv[2]), program), "--quiet", "run.yaml", *more], cwd=place, check=not more)
            with open(os.path.join(place, "state.h5"), "rb") as file:
                put("checkpoint", f"{name}_{state}.h5", file.read())
        with h5py.File(os.path.join(place, "result.h5")) as whole:
            hdf5("hdf5_block", f"result_of_{name}.h5", lambda file: [whole.copy(whole[part], file) for part in ("checksums", vectors)])


if len(sys.argv) > 2:
    iterations = "{type: none}, filtered_start: false, dense_up_to: 0, block_size: 2}"
    run("block-eigs", "eigensolver: {pairs: 1, preconditioner: " + iterations, "eigs", "eigensolver.max_iterations=2", "eigenvectors")
    run("block-solve", "right_hand_sides: {random: 2}\nlinear_solver: {preconditioner: {type: none}}", "solve",
        "linear_solver.max_iterations=2", "solution")
