# What a page takes for granted.
A_own_rows = matrix
