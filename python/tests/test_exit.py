"""How the interpreter ends, and starts where the machine lacks something."""

import subprocess
import sys
import textwrap

import pytest

SOLVING = """
    import threading, time
    import scipy.sparse as sp, scipy.sparse.linalg
    from block_eigs import eigsh
    d = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(200, 200))
    A = sp.kronsum(d, d).tocsr()
    begun = threading.Event()
    def solve():
        {repeatedly}eigsh({A}, 20, preconditioner="none", tol=0, maxiter=100000, options={{"dense_up_to": 0, "filtered_start": False}},
              verify="residuals", callback=lambda now: begun.set())
    threading.Thread(target=solve, daemon=True).start()
    begun.wait()
    time.sleep(0.2)
    print("ended")
"""


def run(code, **more):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120, **more)


@pytest.mark.parametrize("A", ["A", "sp.linalg.aslinearoperator(A)"])
@pytest.mark.parametrize("repeatedly", ["", "while True: "])
def test_daemon_threads_that_solve(A, repeatedly):
    done = run(SOLVING.format(A=A, repeatedly=repeatedly))
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")


def test_without_ssh(tmp_path):
    """Open MPI ends the process where it does not find it."""
    done = run("import scipy.sparse as sp; from block_eigs import eigsh; print(eigsh(sp.eye(9), 2)[0])", env={"PATH": str(tmp_path)})
    assert (done.returncode, done.stdout.strip()) == (0, "[1. 1.]"), done.stderr
