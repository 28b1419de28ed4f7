"""The EPS type blockeigs from Python, through slepc4py, beside eigenvalues that are known in closed form:
python3 slepc_python_test.py PLUGIN VERSION, the version of SLEPc that the plug-in was built for. Exit code 77 without a
slepc4py of that version."""

import sys

try:
    import numpy as np
    import slepc4py
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

if slepc4py.__version__.split(".")[:2] != sys.argv[2].split(".")[:2]:
    print(f"skipped: slepc4py {slepc4py.__version__} is not for SLEPc {sys.argv[2]}")
    sys.exit(77)

slepc4py.init([sys.argv[0], "-dll_append", sys.argv[1]])
from petsc4py import PETSc  # noqa: E402
from slepc4py import SLEPc  # noqa: E402

HEP, GHEP = SLEPc.EPS.ProblemType.HEP, SLEPc.EPS.ProblemType.GHEP
SMALLEST, LARGEST = SLEPc.EPS.Which.SMALLEST_REAL, SLEPc.EPS.Which.LARGEST_REAL
n = 15  # 3,375 rows: more than are solved densely where iterations leave something undone


def laplacian():
    a = PETSc.Mat().createAIJ([n**3, n**3], nnz=7)
    for row in range(*a.getOwnershipRange()):
        a[row, row] = 6.0
        for place, step in ((row // (n * n), n * n), (row // n % n, n), (row % n, 1)):
            if place > 0:
                a[row, row - step] = -1.0
            if place < n - 1:
                a[row, row + step] = -1.0
    a.assemble()
    return a


a = laplacian()
b = a.copy()  # B = 1.25 I - A / 24, whose eigenvectors are those of A
b.scale(-1 / 24)
b.shift(1.25)
one = 2 - 2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1))
exact = np.sort((one[:, None, None] + one[None, :, None] + one[None, None, :]).ravel())
general = np.sort(exact / (1.25 - exact / 24))


def solve(expected, mass=None, which=SMALLEST, matrix=a, **more):
    solver = SLEPc.EPS().create()
    solver.setOperators(matrix, mass)
    solver.setProblemType(more.get("problem", HEP if mass is None else GHEP))
    solver.setWhichEigenpairs(which)
    solver.setDimensions(len(expected))
    solver.setTolerances(1e-9, more.get("iterations", 500))
    solver.setType("blockeigs")
    if "change" in more:
        more["change"](solver)
    solver.setFromOptions()
    solver.solve()
    if not more.get("finishes", True):
        return solver
    assert solver.getConvergedReason() > 0, solver.getConvergedReason()
    found = np.array([solver.getEigenvalue(i).real for i in range(len(expected))])
    assert np.abs(found - expected).max() <= 1e-9 * abs(expected).max(), found - expected
    for i in range(len(expected)):  # residuals that SLEPc computes
        assert solver.computeError(i) <= 2e-9, solver.computeError(i)
    return solver


def vectors(solver, count):
    found = [a.createVecLeft() for _ in range(count)]
    for i, vector in enumerate(found):
        solver.getEigenvector(i, vector)
    return found


def preconditioner(kind, steps=None):
    def change(solver):
        st = solver.getST()
        st.setType("precond")
        if steps:
            st.getKSP().setType("cg")
            st.getKSP().setTolerances(rtol=1e-12, max_it=steps)
        st.getKSP().getPC().setType(kind)

    return change


def refused(code, **more):
    try:
        solve(exact[:4], **more)
    except PETSc.Error as error:
        assert error.ierr == code, error
    else:
        raise AssertionError(f"no error with {more}")


plain = solve(exact[:6])
solve(exact[::-1][:6], which=LARGEST)
solve(general[:6], b)
solve(general[::-1][:6], b, LARGEST)

# The deflation space is left out, in its own inner product; a start from eigenvectors takes fewer steps.
solve(exact[4:9], change=lambda solver: solver.setDeflationSpace(vectors(plain, 4)))
solve(general[4:9], b, change=lambda solver: solver.setDeflationSpace(vectors(plain, 4)))
jacobi = solve(exact[:4], change=preconditioner("jacobi"))


def started(solver):
    preconditioner("jacobi")(solver)
    solver.setInitialSpace(vectors(plain, 4))


assert 2 * solve(exact[:4], change=started).getIterationNumber() < jacobi.getIterationNumber()
multigrid = solve(exact[:4], change=preconditioner("gamg"))
assert multigrid.getIterationNumber() < jacobi.getIterationNumber()
assert solve(exact[:4], change=preconditioner("jacobi", 30)).getIterationNumber() < jacobi.getIterationNumber()

# A solver is used again, and ends early.
plain.setDimensions(3)
plain.solve()
assert abs(plain.getEigenvalue(2).real - exact[2]) <= 1e-9
early = solve(exact[:4], iterations=2, finishes=False, change=preconditioner("jacobi"))
assert early.getConvergedReason() == SLEPc.EPS.ConvergedReason.DIVERGED_ITS
assert early.getConverged() < 4

told = []
solver = solve(exact[:4], change=lambda s: s.setMonitor(lambda eps, its, done, values, errors: told.append((its, done))))
assert told and told[-1][0] <= solver.getIterationNumber() and told[0][1] <= told[-1][1] <= 4, told


class Product:
    def mult(self, _, x, y):
        a.mult(x, y)


shell = PETSc.Mat().createPython(a.getSizes(), Product())
shell.setUp()
solve(exact[:4], matrix=shell)

# One that nobody has set up, as krylovschur takes it; blocks, a copy of which is no change of the original.
solve(exact[:4], matrix=PETSc.Mat().createPython([a.getSizes()[0]] * 2, Product(), comm=a.comm))
blocks = a.convert("baij", out=PETSc.Mat())
solve(exact[:4], matrix=blocks)
solve(general[:4], b.convert("baij", out=PETSc.Mat()), matrix=blocks)


class Fault:
    def mult(self, _, x, y):
        raise ZeroDivisionError("in mult")


fault = PETSc.Mat().createPython(a.getSizes(), Fault(), comm=a.comm)
fault.setUp()
for _ in range(2):
    try:
        solve(exact[:4], matrix=fault, finishes=False)
    except ZeroDivisionError as error:
        assert str(error) == "in mult"
    else:
        raise AssertionError("an exception of the program's is lost")

unsupported = 56  # PETSC_ERR_SUP
refused(unsupported, which=SLEPc.EPS.Which.LARGEST_MAGNITUDE)
refused(unsupported, which=SLEPc.EPS.Which.TARGET_REAL)
refused(unsupported, problem=SLEPc.EPS.ProblemType.NHEP)
refused(unsupported, mass=b, problem=SLEPc.EPS.ProblemType.GHIEP)
PETSc.Sys.Print(f"slepc4py {slepc4py.__version__}: blockeigs finds what is known, {a.comm.size} ranks")
