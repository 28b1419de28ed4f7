# What a page takes for granted.
import h5py, numpy as np, scipy.sparse as sp
line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(40, 40))
with h5py.File("thermal2.h5", "w") as file:
    for name, matrix in (("A", sp.kronsum(line, line)), ("B", sp.identity(1600) + 0.1 * sp.kron(line, line))):
        matrix = sp.csr_matrix(matrix)
        group = file.create_group(name)
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", matrix.shape
        group["data"], group["indices"], group["indptr"] = matrix.data, matrix.indices, matrix.indptr
with h5py.File("rhs.h5", "w") as file:
    file["F"] = np.random.default_rng(1).standard_normal((1600, 3))
