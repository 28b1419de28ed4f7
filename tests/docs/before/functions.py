# What a page takes for granted.
n, matrix = 900, sp.csr_matrix(A)
def apply(X):
    return matrix @ X
def approximate_inverse(X):
    return X / 4
