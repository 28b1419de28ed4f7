# What a page takes for granted.
rhs = np.random.default_rng(1).standard_normal((400, 3))
with h5py.File("rhs.h5", "w") as file:
    file["F"] = rhs
