# What a page takes for granted.
import numpy as np
from block_eigs import solve
F = np.random.default_rng(1).standard_normal((900, 5))
