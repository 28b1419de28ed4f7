"""Ctrl-C, threads, and progress."""

import io
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
from conftest import laplacian, residuals

from block_eigs import Interrupted, NotConverged, eigsh, solve
from block_eigs import _progress

SLOW = {"preconditioner": "none", "options": {"filtered_start": False, "dense_up_to": 0}, "maxiter": 100_000}


@pytest.fixture(scope="module")
def mesh():
    return laplacian(200, 201)


@pytest.fixture(autouse=True)
def interruptible():
    """As at a terminal, also where whoever started the tests has SIGINT ignored, as nohup and `&` in scripts do."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt_after(seconds):
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_ctrl_c_ends_an_eigensolve_with_its_pairs(mesh):
    A, exact = mesh
    interrupt_after(1.0)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt) as caught:
        eigsh(A, k=4, tol=1e-12, **SLOW)
    assert time.monotonic() - began < 5
    assert isinstance(caught.value, Interrupted)
    result = caught.value.result
    assert result.eigenvectors.shape == (A.shape[0], 4) and result.iterations > 1
    np.testing.assert_allclose(residuals(A, *result), result.residual_norms, rtol=1e-6)
    assert np.all(result.eigenvalues >= exact[:4] * (1 - 1e-12)), "Ritz values lie above"
    assert len(caught.value.eigenvalues) == sum(s != "not_converged" for s in result.status)
    assert eigsh(A, k=2).converged


@pytest.mark.parametrize("kind", ["A", "M", "preconditioner"])
def test_ctrl_c_in_a_function_of_the_caller(kind):
    """Where nearly all the time of such a run goes."""
    A, exact = laplacian(20, 21)

    def product(x):
        time.sleep(0.05)
        return A @ x if kind == "A" else 1 * x

    operands = {"A": A, "v0": np.random.default_rng(0).standard_normal((A.shape[0], 2)), kind: product}
    interrupt_after(0.5)
    with pytest.raises(Interrupted) as caught:
        eigsh(**{**SLOW, **operands}, k=2, tol=1e-15)
    result = caught.value.result
    np.testing.assert_allclose(residuals(A, *result), result.residual_norms, rtol=1e-6)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_that_comes_after_the_last_iteration():
    A, _ = laplacian(20, 21)
    entered = []

    def product(x):
        entered.append(x.shape)
        if len(entered) == last:
            os.kill(os.getpid(), signal.SIGINT)
        return A @ x

    last = -1
    eigsh(product, k=2, v0=np.ones(A.shape[0]))
    last = len(entered)
    entered.clear()
    with pytest.raises(Interrupted) as caught:
        eigsh(product, k=2, v0=np.ones(A.shape[0]))
    assert caught.value.result.converged


def test_ctrl_c_a_second_time_waits_for_nothing():
    began = time.monotonic()

    def product(x):
        time.sleep(20)
        return x

    for seconds in (0.3, 0.6):
        interrupt_after(seconds)
    with pytest.raises(KeyboardInterrupt):
        eigsh(product, k=2, v0=np.ones(500))
    assert time.monotonic() - began < 10
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_ends_a_linear_solve(mesh):
    A, _ = mesh
    F = np.random.default_rng(1).standard_normal((A.shape[0], 4))
    interrupt_after(0.3)
    with pytest.raises(Interrupted) as caught:
        # No end by itself: the callback keeps it busy.
        solve(A, F, tol=1e-13, preconditioner=None, callback=lambda now: time.sleep(0.05))
    assert caught.value.result.x.shape == F.shape


@pytest.mark.parametrize("solver", [eigsh, solve])
def test_nothing_is_advised_after_an_interruption(solver):
    A, _ = laplacian(80, 81)
    arguments = {"k": 4, **SLOW} if solver is eigsh else {"F": np.ones(A.shape[0])}

    def interrupt(now):
        if now.iteration == 2:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match="ended on request$") as caught:
        solver(A, callback=interrupt, **arguments)
    assert caught.value.result.message == "ended on request"


def test_time_limit(mesh):
    A, exact = mesh
    began = time.monotonic()
    with pytest.raises(NotConverged) as caught:
        eigsh(A, k=4, tol=1e-12, max_seconds=0.5, **SLOW)
    assert 0.4 < time.monotonic() - began < 5
    result = caught.value.result
    np.testing.assert_allclose(residuals(A, *result), result.residual_norms, rtol=1e-6)
    with pytest.raises(NotConverged):
        solve(A, np.ones(A.shape[0]), tol=1e-14, preconditioner=None, max_seconds=1e-3)
    with pytest.raises(ValueError, match="max_seconds"):
        eigsh(A, k=4, max_seconds=-1)


def test_another_handler_counts(mesh):
    class Alarm(Exception):
        pass

    def handler(number, frame):
        raise Alarm

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(Alarm):
            eigsh(mesh[0], k=4, tol=1e-12, **SLOW)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_other_threads_run_meanwhile(mesh):
    A, _ = mesh
    ticks = []
    done = threading.Event()

    def tick():
        while not done.wait(0.005):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        began = time.monotonic()
        eigsh(A, k=2)
        ended = time.monotonic()
    finally:
        done.set()
        thread.join()
    during = [t for t in ticks if began < t < ended]
    assert len(during) > 0.2 * (ended - began) / 0.005


def test_threads_take_turns():
    A, exact = laplacian(20, 21)
    found = []
    threads = [threading.Thread(target=lambda: found.append(eigsh(A, k=3).eigenvalues)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    for w in found:
        np.testing.assert_allclose(w, exact[:3], rtol=1e-12)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream, shown", [(Terminal, True), (io.StringIO, False)])
def test_a_line_where_there_is_a_terminal(mesh, monkeypatch, stream, shown):
    monkeypatch.setattr(_progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(_progress, "_PERIOD", 0.0)
    monkeypatch.setattr(_progress.Progress, "_make_bar", lambda self: None)
    err = stream()
    monkeypatch.setattr("sys.stderr", err)
    eigsh(mesh[0], k=2)
    text = err.getvalue()
    assert ("/2 pairs, iteration" in text) == shown
    assert not shown or text.endswith("\r\033[K"), "the line is taken away"


@pytest.mark.parametrize("columns", [40, 200])
def test_the_line_is_as_wide_as_the_terminal(monkeypatch, columns):
    monkeypatch.setattr(_progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(_progress, "_PERIOD", 0.0)
    monkeypatch.setattr(_progress.Progress, "_make_bar", lambda self: None)
    monkeypatch.setenv("COLUMNS", str(columns))
    err = Terminal()
    monkeypatch.setattr("sys.stderr", err)
    what = "pairs of a name that is long, so that the line would not fit into a terminal of 80 columns"
    _progress.Progress(2, what).update({"iteration": 3, "converged": 1, "worst": 2.5})
    line = err.getvalue().removeprefix("\r\033[K")
    assert line == f"1/2 {what}, iteration 3, worst residual 2.5e+00 times its goal"[: columns - 1]


def test_tqdm_where_it_is_installed(mesh, monkeypatch):
    pytest.importorskip("tqdm")
    monkeypatch.setattr(_progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(_progress, "_PERIOD", 0.0)
    err = io.StringIO()
    monkeypatch.setattr("sys.stderr", err)
    eigsh(mesh[0], k=2, progress=True)
    assert "pairs" in err.getvalue()


def test_what_was_interrupted_can_be_sent_to_other_processes():
    with pytest.raises(NotConverged) as caught:
        eigsh(laplacian(80, 81)[0], k=2, **{**SLOW, "maxiter": 2})
    for error in (caught.value, Interrupted(caught.value.result)):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error)
        np.testing.assert_array_equal(again.result.eigenvalues, error.result.eigenvalues)


def test_more_time_is_what_is_advised_where_time_was_up():
    with pytest.raises(NotConverged, match="try a larger max_seconds$"):
        eigsh(laplacian(80, 81)[0], k=2, max_seconds=1e-9, **SLOW)
