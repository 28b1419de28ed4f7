#!/usr/bin/env python3
"""Reads with h5py and SciPy what the write_matrix test wrote, as a user of AnnData files would, and compares with the Matrix
Market files that it was read from. Usage: check_written_matrix.py FOLDER"""
import glob
import os
import sys

import h5py
import numpy as np
import scipy.io
import scipy.sparse as sp

written = sorted(glob.glob(os.path.join(sys.argv[1], "written-*.h5")))
if not written:
    print("nothing was written")
    sys.exit(77)
for path in written:
    original = os.path.join(sys.argv[1], os.path.basename(path).split("-", 2)[2][:-3])
    wanted = sp.csr_matrix(scipy.io.mmread(original))
    wanted.sum_duplicates()
    with h5py.File(path, "r") as file:
        group = file["deep/A"]
        assert group.attrs["encoding-type"] == "csr_matrix" and group.attrs["encoding-version"] == "0.1.0"
        assert group["data"].dtype == np.float64 and group["indices"].dtype == np.int32 and group["indptr"].dtype == np.int32
        found = sp.csr_matrix((group["data"][:], group["indices"][:], group["indptr"][:]), shape=group.attrs["shape"])
    assert found.shape == wanted.shape and found.has_canonical_format
    for name in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(found, name), getattr(wanted, name)), (path, name)
    print(path, found.shape, found.nnz, "as it should be")
