# What a page takes for granted.
import scipy.sparse as sp
line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(20, 20))
A = sp.kronsum(line, line)
