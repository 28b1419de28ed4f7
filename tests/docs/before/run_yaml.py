# What a page takes for granted.
import scipy.sparse as sp

with open("run.yaml", "w") as file:
    file.write("matrix: {generate: laplacian1d, size: [100]}\noutput: {file: result.h5}\n")
sp.save_npz("other.npz", sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(900, 900), format="csr"))
