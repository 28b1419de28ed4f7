"""The Mat type blockcsr from Python, through petsc4py: python3 python_test.py PLUGIN VERSION, the version of PETSc that
the plug-in was built for. Exit code 77 without a petsc4py of that version."""

import sys

try:
    import numpy as np
    import petsc4py
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

if petsc4py.__version__.split(".")[:2] != sys.argv[2].split(".")[:2]:
    print(f"skipped: petsc4py {petsc4py.__version__} is not for PETSc {sys.argv[2]}")
    sys.exit(77)

petsc4py.init([sys.argv[0], "-dll_append", sys.argv[1]])
from petsc4py import PETSc  # noqa: E402

n = 24
size = PETSc.COMM_WORLD.getSize()


def laplacian(kind):
    a = PETSc.Mat().create(comm=PETSc.COMM_WORLD)
    a.setSizes([n * n, n * n])
    a.setType(kind)
    a.setUp()
    begin, end = a.getOwnershipRange()
    for row in range(begin, end):
        i, j = divmod(row, n)
        a.setValue(row, row, 4.0)
        for there, column in ((i > 0, row - n), (j > 0, row - 1), (j < n - 1, row + 1), (i < n - 1, row + n)):
            if there:
                a.setValue(row, column, -1.0)
    a.assemble()
    return a


def check_type(a, kind):
    expected = ("seq" if size == 1 else "mpi") + kind
    assert a.getType() == expected, f"type {a.getType()}, should be {expected}"


def check_close(found, expected):
    error = np.abs(found - expected).max() if expected.size else 0.0
    assert error <= 1e-13 * max(1.0, np.abs(expected).max() if expected.size else 0.0), f"off by {error}"


def check_products(aij, ours):
    x, expected = aij.createVecs()
    y = expected.duplicate()
    x.array[:] = np.sin(1.0 + np.arange(*x.getOwnershipRange()))
    aij.mult(x, expected)
    ours.mult(x, y)
    check_close(y.array, expected.array)
    block = PETSc.Mat().createDense([(x.getLocalSize(), None), (None, 16)], comm=PETSc.COMM_WORLD)
    block.setUp()
    block.getDenseArray()[:] = np.cos(np.arange(x.getLocalSize() * 16)).reshape(-1, 16)
    block.assemble()
    check_close(ours.matMult(block).getDenseArray(), aij.matMult(block).getDenseArray())


def solve(a):
    solver = PETSc.KSP().create(comm=PETSc.COMM_WORLD)
    solver.setOperators(a)
    solver.setType("cg")
    solver.getPC().setType("jacobi")
    solver.setTolerances(rtol=1e-10)
    x, f = a.createVecs()
    f.set(1.0)
    solver.solve(f, x)
    assert solver.getConvergedReason() > 0
    return x.norm()


aij = laplacian("aij")
check_type(aij, "aij")
for ours in (laplacian("blockcsr"), aij.convert("blockcsr", PETSc.Mat())):
    check_type(ours, "aijblockcsr")
    check_products(aij, ours)
    assert abs(solve(ours) - solve(aij)) <= 1e-8 * solve(aij)
PETSc.Sys.Print(f"petsc4py {petsc4py.__version__}: blockcsr does as aij does, {size} ranks")
