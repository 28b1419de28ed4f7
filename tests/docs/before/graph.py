# What a page takes for granted.
from types import SimpleNamespace
adata = SimpleNamespace(obsm={}, obsp={"connectivities": sp.diags([1.0, 1.0], [-1, 1], shape=(300, 300), format="csr")})
