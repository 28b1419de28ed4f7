# What a page takes for granted.
import scipy.sparse as sp
line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(30, 30))
sp.save_npz("matrix.npz", sp.csr_matrix(sp.kronsum(line, line)))
sp.save_npz("other.npz", sp.csr_matrix(sp.kronsum(line, line)))
