# What a page takes for granted.
K, M = A, sp.identity(400, format="csr")
