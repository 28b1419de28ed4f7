#!/usr/bin/env python3
"""PETSc's MatLoad reads the imitated MATLAB v7.3 file, too, and finds the same matrices, not their transposes.
Usage: check_matlab_file.py FOLDER"""
import os
import sys

import numpy as np

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from write_matrix_files import load_petsc, random_matrix  # noqa: E402

petsc = load_petsc()
path = os.path.join(sys.argv[1], "matlab.mat")
if petsc is None or not os.path.exists(path):
    print("no petsc4py, or no file")
    sys.exit(77)
if not petsc.Sys.hasExternalPackage("hdf5"):
    print("this PETSc has no HDF5")
    sys.exit(77)
for name, wanted in (("A", random_matrix(211, 211, 6, 1)), ("B", random_matrix(97, 151, 5, 2))):
    viewer = petsc.Viewer().createHDF5(path, "r", comm=petsc.COMM_SELF)
    viewer.pushFormat(petsc.Viewer.Format.HDF5_MAT)
    matrix = petsc.Mat().create(comm=petsc.COMM_SELF)
    matrix.setType("aij")
    matrix.setName(name)
    matrix.load(viewer)
    indptr, indices, data = matrix.getValuesCSR()
    wanted.sort_indices()
    assert matrix.getSize() == wanted.shape
    assert np.array_equal(indptr, wanted.indptr) and np.array_equal(indices, wanted.indices)
    assert np.array_equal(data, wanted.data)
    print(f"MatLoad of {path}:/{name}: {matrix.getSize()}, the same {len(data)} nonzeros")
