"""Several ranks, and MPI that somebody else has started or will start."""

import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import pytest

import block_eigs

HERE = pathlib.Path(__file__).parent
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(pathlib.Path(block_eigs.__file__).parent.parent), str(HERE)]),
    "OMP_NUM_THREADS": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}


def has_mpi4py():
    try:
        import mpi4py  # noqa: F401
    except ImportError:
        return False
    return shutil.which("mpirun") is not None


needs_ranks = pytest.mark.skipif(not has_mpi4py(), reason="needs mpi4py and mpirun")


def run(code, ranks=None, code_expected=0):
    command = [sys.executable, "-c", textwrap.dedent(code)]
    if ranks is not None:
        command = ["mpirun", "-n", str(ranks), *command]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=100)
    assert done.returncode == code_expected, done.stdout + done.stderr
    return done.stdout


PREPARE = """
    import re, numpy as np, scipy.sparse as sp
    from mpi4py import MPI
    from conftest import laplacian
    from block_eigs import eigsh, solve, NotConverged
    comm = MPI.COMM_WORLD
    A, exact = laplacian(20, 21)
    n = A.shape[0]
    # Parts of unlike sizes, one of them empty where there are three ranks or more.
    ends = sorted(np.random.default_rng(0).integers(0, n, comm.size - 1))
    if comm.size > 2: ends[1] = ends[0]
    first, last = ([0] + list(ends) + [n])[comm.rank:comm.rank + 2]
    own = A[first:last]
    def gathered(x): return np.concatenate(comm.allgather(x))
"""


@needs_ranks
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_rank_gives_and_gets_its_rows(ranks):
    run(
        PREPARE + """
    alone = eigsh(A, k=3)
    for preconditioner in ("auto", "amg", "jacobi"):
        result = eigsh(own, k=3, comm=comm, preconditioner=preconditioner)
        w, v = result
        assert v.shape == (last - first, 3), v.shape
        np.testing.assert_allclose(w, exact[:3], rtol=1e-11)
        all_v = gathered(v)
        norms = np.linalg.norm(A @ all_v - all_v * w, axis=0)
        np.testing.assert_allclose(norms, result.residual_norms, rtol=1e-4, atol=1e-13)
        assert result.ranks == comm.size
    M = sp.identity(n, format="csr")[first:last] * 2
    w, v = eigsh(own, k=2, M=M, comm=comm, which="LA", v0=np.ones(last - first))
    np.testing.assert_allclose(w, exact[-2:] / 2, rtol=1e-11)
    w, v = eigsh(own.astype(np.float32), k=2, comm=comm)
    np.testing.assert_allclose(w, exact[:2], rtol=1e-4)
    """,
        ranks,
    )


@needs_ranks
def test_linear_systems():
    run(
        PREPARE + """
    F = np.random.default_rng(1).standard_normal((n, 3))
    x = solve(own, F[first:last], comm=comm, tol=1e-10).x
    assert np.linalg.norm(A @ gathered(x) - F) < 1e-8
    """,
        3,
    )


@needs_ranks
def test_operators_on_own_rows():
    run(
        PREPARE + """
    from scipy.sparse.linalg import LinearOperator
    def product(x): return own @ gathered(np.ascontiguousarray(x))
    operator = LinearOperator((last - first,) * 2, matvec=product, matmat=product, dtype=float)
    w, v = eigsh(operator, k=2, comm=comm, preconditioner=lambda x: x / 4)
    np.testing.assert_allclose(w, exact[:2], rtol=1e-10)
    w, v = eigsh(product, k=2, comm=comm, v0=np.ones(last - first))
    np.testing.assert_allclose(w, exact[:2], rtol=1e-10)
    w, v = eigsh(own, k=2, M=lambda x: 2 * x, comm=comm)
    np.testing.assert_allclose(w, exact[:2] / 2, rtol=1e-10)
    x = solve(product, np.ones(last - first), comm=comm).x
    assert np.linalg.norm(A @ gathered(x) - 1) < 1e-6
    """,
        2,
    )


@needs_ranks
def test_an_exception_on_one_rank_is_one_on_all():
    run(
        PREPARE + """
    def expect(kinds, work):
        try:
            work()
        except kinds as error:
            return str(error)
        raise AssertionError("nothing was raised")

    mine = ZeroDivisionError if comm.rank == 1 else RuntimeError
    def callback(now):
        if comm.rank == 1 and now.iteration == 2: 1 / 0
    text = expect(mine, lambda: eigsh(own, k=3, comm=comm, callback=callback, options={"dense_up_to": 0}))
    assert comm.rank == 1 or "rank 1" in text, text
    def preconditioner(x):
        if comm.rank == 1: 1 / 0
        return x
    text = expect(mine, lambda: eigsh(own, k=3, comm=comm, preconditioner=preconditioner))
    assert comm.rank == 1 or "rank 1" in text, text
    # Wrong input of one rank alone.
    bad = own.astype(complex) if comm.rank == 1 else own
    expect(TypeError if comm.rank == 1 else RuntimeError, lambda: eigsh(bad, k=3, comm=comm))
    bad = own.copy()
    if comm.rank == 2: bad.data[0] = np.nan
    expect(ValueError, lambda: eigsh(bad, k=3, comm=comm))
    text = expect(ValueError, lambda: eigsh(own, k=2 + comm.rank, comm=comm))
    assert text == "k must be the same on all ranks, but is 2 on rank 0 and 3 on rank 1", text
    rank = comm.rank
    for wrong, words in (
        ({"which": "LA" if rank == 2 else "SA"}, "which must be the same on all ranks, but is 'SA' on rank 0 and 'LA' on rank 2"),
        ({"M": None if rank else own}, "M must be the same on all ranks, but is a matrix on rank 0 and not given on rank 1"),
        ({"v0": np.ones(last - first) if rank == 1 else None}, "v0 .* but is not given on rank 0 and given on rank 1"),
        ({"v0": np.ones((last - first, 1 + rank))}, "the number of columns of v0 .* but is 1 on rank 0 and 2 on rank 1"),
        ({"constraints": np.ones((last - first, 1 + rank))}, "the number of columns of constraints .* but is 1 on rank 0 and 2 on rank 1"),
        ({"preconditioner": "amg" if rank else np.copy}, "preconditioner .* but is a function on rank 0 and 'amg' on rank 1"),
    ):
        text = expect(ValueError, lambda: eigsh(own, k=3, comm=comm, **wrong))
        assert re.fullmatch(words, text), text
    text = expect(ValueError, lambda: solve(own, np.ones((last - first, 1 + comm.rank)), comm=comm))
    assert text.startswith("the number of right-hand sides must be the same on all ranks, but is 1 on rank 0 and 2"), text
    v0 = np.ones(3 if comm.rank == 1 else last - first)
    expect((RuntimeError, ValueError), lambda: eigsh(own, k=2, comm=comm, v0=v0))
    expect(TypeError, lambda: eigsh(own, k=n, comm=comm))
    expect((RuntimeError, ValueError), lambda: eigsh(own, k=2, comm=comm, which="XX" if comm.rank == 0 else "SA"))
    expect((RuntimeError, NotImplementedError), lambda: eigsh(own, k=2, comm=comm, sigma=1.0 if comm.rank == 2 else None))
    expect((RuntimeError, TypeError), lambda: eigsh(own, k=2, comm=comm, callback=5 if comm.rank == 1 else None))
    expect((RuntimeError, ValueError), lambda: solve(own, [[1], [2, 3]] if comm.rank == 1 else np.ones(last - first), comm=comm))
    # All of them are still there, and in step.
    np.testing.assert_allclose(eigsh(own, k=2, comm=comm).eigenvalues, exact[:2], rtol=1e-10)
    """,
        3,
    )


@needs_ranks
def test_ctrl_c_on_one_rank_leaves_all_with_their_rows():
    run(
        PREPARE + """
    import os, signal, threading, time
    from block_eigs import Interrupted
    signal.signal(signal.SIGINT, signal.default_int_handler)
    def interrupted(work):
        if comm.rank == 1: threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            work()
        except Interrupted as error:
            assert comm.rank == 1 or "rank 1" in str(error.__cause__), repr(error.__cause__)
            return error.result
        raise AssertionError("nothing was raised")

    slow = {"preconditioner": "none", "tol": 1e-15, "callback": lambda now: time.sleep(0.05)}
    result = interrupted(lambda: eigsh(own, k=3, comm=comm, options={"dense_up_to": 0, "filtered_start": False}, **slow))
    assert result.eigenvectors.shape == (last - first, 3)
    v = gathered(result.eigenvectors)
    np.testing.assert_allclose(np.linalg.norm(A @ v - v * result.eigenvalues, axis=0), result.residual_norms, rtol=1e-6)
    F = np.random.default_rng(1).standard_normal((n, 3))
    result = interrupted(lambda: solve(own, F[first:last], comm=comm, **slow))
    assert result.x.shape == (last - first, 3)
    np.testing.assert_allclose(np.linalg.norm(A @ gathered(result.x) - F, axis=0), result.residual_norms, rtol=1e-6)
    def product(x):
        time.sleep(0.05)
        return own @ gathered(np.ascontiguousarray(x))
    del slow["callback"]
    result = interrupted(lambda: solve(product, F[first:last], comm=comm, **slow))
    np.testing.assert_allclose(np.linalg.norm(A @ gathered(result.x) - F, axis=0), result.residual_norms, rtol=1e-6)
    """,
        3,
    )


@needs_ranks
def test_ctrl_c_before_the_run_ends_the_wait_of_the_others():
    run(
        PREPARE + """
    class Slow:
        def __array__(self, *arguments, **more): raise KeyboardInterrupt
    try:
        eigsh(Slow() if comm.rank == 1 else own, k=3, comm=comm)
    except KeyboardInterrupt as error:
        assert comm.rank == 1 or "rank 1" in str(error), repr(error)
        np.testing.assert_allclose(eigsh(own, k=2, comm=comm).eigenvalues, exact[:2], rtol=1e-10)
        raise SystemExit(0)
    raise AssertionError("nothing was raised")
    """,
        2,
    )


@needs_ranks
def test_without_a_communicator_every_rank_is_alone():
    run(
        PREPARE + """
    k = comm.rank + 1
    np.testing.assert_allclose(eigsh(A, k=k).eigenvalues, exact[:k], rtol=1e-10)
    """,
        2,
    )


@needs_ranks
@pytest.mark.parametrize(
    "imports",
    [
        "import mpi4py.MPI, block_eigs",
        "import block_eigs; block_eigs.eigsh(A, k=1); import mpi4py.MPI",
        "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; import block_eigs",
        "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; MPI.Init_thread(); import block_eigs",
        "import h5py, block_eigs",
        "import block_eigs, h5py",
        "import block_eigs; block_eigs.eigsh(A, k=1); import h5py",
        "import h5py, mpi4py.MPI, block_eigs",
    ],
)
def test_imports_in_any_order(imports, tmp_path):
    if "h5py" in imports:
        pytest.importorskip("h5py")
    out = run(f"""
    from conftest import laplacian
    A, exact = laplacian(12, 13)
    {imports}
    w, v = block_eigs.eigsh(A, k=2)
    assert abs(w[0] - exact[0]) < 1e-12
    if "h5py" in {imports!r}:
        with h5py.File({str(tmp_path / "a.h5")!r}, "w") as f: f["v"] = v
        with h5py.File({str(tmp_path / "a.h5")!r}) as f: assert (f["v"][:] == v).all()
    if "mpi4py" in {imports!r}:
        from mpi4py import MPI
        assert MPI.COMM_SELF.allreduce(2) == 2
    print("fine")
    """)
    assert out.endswith("fine\n")


def test_petsc4py_after_the_first_solve_ends_in_peace():
    pytest.importorskip("petsc4py")
    out = run("""
    from conftest import laplacian
    import block_eigs
    block_eigs.eigsh(laplacian(5, 6)[0], k=1)
    from petsc4py import PETSc
    print("fine", PETSc.COMM_SELF.size)
    """)
    assert out.endswith("fine 1\n")


@needs_ranks
def test_mpi_that_mpi4py_has_not_started_is():
    out = run("""
    import mpi4py; mpi4py.rc.initialize = False
    from mpi4py import MPI
    from conftest import laplacian
    import block_eigs
    A, exact = laplacian(12, 13)
    assert abs(block_eigs.eigsh(A, k=1, comm=MPI.COMM_SELF).eigenvalues[0] - exact[0]) < 1e-12
    print("fine")
    """)
    assert out.endswith("fine\n")


@needs_ranks
def test_mpi_that_has_ended_is_an_exception():
    out = run("""
    from mpi4py import MPI
    from conftest import laplacian
    import block_eigs
    MPI.Finalize()
    try:
        block_eigs.eigsh(laplacian(5, 6)[0], k=1)
    except RuntimeError as error:
        assert "finalized" in str(error)
        print("fine")
    """)
    assert out.endswith("fine\n")


@needs_ranks
def test_mpi_without_threads_is_an_exception():
    out = run("""
    import mpi4py; mpi4py.rc.initialize = False
    from mpi4py import MPI
    from conftest import laplacian
    import block_eigs
    MPI.Init()
    try:
        block_eigs.eigsh(laplacian(5, 6)[0], k=1)
    except RuntimeError as error:
        assert "threads" in str(error)
        print("fine")
    """)
    assert out.endswith("fine\n")


def test_a_forked_process_is_told_so():
    out = run("""
    import os
    from conftest import laplacian
    import block_eigs
    A, _ = laplacian(5, 6)
    block_eigs.eigsh(A, k=1)
    child = os.fork()
    if child == 0:
        try:
            block_eigs.eigsh(A, k=1)
        except RuntimeError as error:
            assert "forked" in str(error)
            raise SystemExit(7)  # as atexit sees it, too
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert block_eigs.eigsh(A, k=1).converged
    print("fine")
    """)
    assert out.endswith("fine\n")


def test_processes_that_fork_first():
    out = run("""
    import multiprocessing
    from conftest import laplacian
    import block_eigs
    def work(n): return block_eigs.eigsh(laplacian(n, n)[0], k=1).eigenvalues[0]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map(work, [8, 9, 10])
    assert all(abs(w - laplacian(n, n)[1][0]) < 1e-12 for w, n in zip(found, [8, 9, 10]))
    print("fine")
    """)
    assert out.endswith("fine\n")


@pytest.mark.parametrize("limit_mib", [50, 150, 400])
def test_too_little_memory_is_an_exception(limit_mib):
    """Beside what the process has already: MPI and OpenBLAS need some of it, the solve the rest."""
    out = run(f"""
    import resource
    from conftest import laplacian
    import block_eigs
    A, _ = laplacian(64, 64, 64)
    block_eigs.eigsh(laplacian(5, 6)[0], k=1)
    pages = int(open("/proc/self/statm").read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * 4096 + {limit_mib} * 2**20,) * 2)
    try:
        block_eigs.eigsh(A, k=60, maxiter=1)
    except MemoryError as error:
        print("fine", error)
    """)
    assert "fine" in out


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="needs mpirun")
def test_launchers_can_be_started_after_a_solve():
    """mpirun that inherits the variables by which MPI knows this process ends with code 1 and no word."""
    out = run("""
        import subprocess
        from conftest import laplacian
        from block_eigs import eigsh
        eigsh(laplacian(20, 21)[0], k=2)
        done = subprocess.run(["mpirun", "-n", "1", "echo", "started"], capture_output=True, text=True, timeout=60)
        print(done.returncode, done.stdout, done.stderr)
    """)
    assert out.split()[:2] == ["0", "started"], out


@needs_ranks
@pytest.mark.parametrize(
    "before",
    [
        "import mpi4py.MPI, block_eigs",
        "import block_eigs, mpi4py.MPI; block_eigs.eigsh(A, k=2)",
        "import block_eigs, mpi4py.MPI; block_eigs.eigsh(A, k=2, comm=mpi4py.MPI.COMM_SELF)",
        "import petsc4py.PETSc, block_eigs",
        "import block_eigs, petsc4py.PETSc; block_eigs.eigsh(A, k=2)",
    ],
)
def test_launchers_can_be_started_where_others_have_started_mpi(before):
    if "petsc4py" in before:
        pytest.importorskip("petsc4py")
    out = run(f"""
        import os, subprocess
        from conftest import laplacian
        A = laplacian(20, 21)[0]
        os.environ["OMPI_MCA_coll_base_verbose"] = "0"
        {before}
        command = ["mpirun", "-n", "1", "sh", "-c", "echo started $OMPI_MCA_coll_base_verbose"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        print(done.returncode, done.stdout, done.stderr)
    """)
    assert out.split()[:3] == ["0", "started", "0"], out


@needs_ranks
def test_mpi_of_others_still_knows_itself():
    """mpi4py starts processes by the variables that a launcher has set, or without any."""
    code = """
        import os, sys
        os.environ["OMPI_MCA_btl"] = "self,vader,tcp"  # jobs do not reach each other through memory
        from mpi4py import MPI
        import block_eigs
        if MPI.Comm.Get_parent() == MPI.COMM_NULL:
            there = MPI.COMM_SELF.Spawn(sys.executable, ["-c", "from mpi4py import MPI; MPI.Comm.Get_parent().Disconnect()"])
            there.Disconnect()
            print("fine", MPI.COMM_WORLD.size)
    """
    assert run(code).endswith("fine 1\n")
    assert run(code, 2).count("fine 2\n") == 2
