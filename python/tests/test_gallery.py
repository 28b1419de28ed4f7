"""The worked problems of docs/gallery at their small size, held against what is known of each."""

import importlib.util
import pathlib

import numpy as np
import pytest
import scipy.sparse.linalg

pytest.importorskip("matplotlib")

import block_eigs  # noqa: E402

GALLERY = pathlib.Path(__file__).resolve().parents[2] / "docs" / "gallery"


def scipy_eigsh(A, k=6, M=None, which="SA", **_):
    """Shift and invert from below the spectrum: A is positive semidefinite but for wells of known depth."""
    assert which == "SA"
    below = -10.0 if M is None else -1.0
    return scipy.sparse.linalg.eigsh(A.tocsc(), k, M=None if M is None else M.tocsc(), sigma=below, which="LM")


def scipy_solve(A, F, **_):
    return scipy.sparse.linalg.splu(A.tocsc()).solve(F)


@pytest.fixture(autouse=True)
def solvers(monkeypatch):
    """SciPy's where the package was not built: the scripts themselves are tested all the same."""
    for name, stand_in in (("eigsh", scipy_eigsh), ("solve", scipy_solve)):
        if not hasattr(block_eigs, name):
            monkeypatch.setattr(block_eigs, name, stand_in, raising=False)


def load(name):
    spec = importlib.util.spec_from_file_location(name, GALLERY / f"{name}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def run(name, tmp_path):
    picture = tmp_path / f"{name}.png"
    found = load(name).main(small=True, output=str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")
    return found


def test_drums(tmp_path):
    """The first eigenvalue by Driscoll, SIAM Review 39 (1997), whose drums are twice as wide: 2.53794399980."""
    (w, v, _), (other, _, _) = run("drums", tmp_path)
    np.testing.assert_allclose(w, other, rtol=1e-10)
    assert abs(w[0] / (4 * 2.53794399980) - 1) < 0.01
    np.testing.assert_allclose(v.T @ v, np.eye(w.size), atol=1e-10)


def test_quantum_wells(tmp_path):
    w, v, a = run("quantum_wells", tmp_path)
    assert (w < 0).all()
    gaps = np.diff(w)
    assert max(gaps[1], gaps[3]) < 0.01 * min(gaps[0], gaps[2], gaps[4])
    assert np.linalg.norm(a @ v - v * w, axis=0).max() < 1e-6


def test_tuning_fork(tmp_path):
    """One element across makes prongs too stiff in bending by shear locking, hence the margin."""
    hertz, slender, k, m, w, v = run("tuning_fork", tmp_path)
    assert 0.9 < hertz[2:4].min() / slender < 1.7
    exact, _ = scipy_eigsh(k, w.size, m)
    np.testing.assert_allclose(w, exact, rtol=1e-7)
    np.testing.assert_allclose(v.T @ (m @ v), np.eye(w.size), atol=1e-9)


def test_stiffness_knows_rigid_movements():
    """Six movements as one body need no force; nothing else does."""
    script = load("tuning_fork")
    stiffness, mass = script.element_matrices(0.5)
    places = 0.5 * script.CORNERS
    x, y, z = places.T
    zero, one = np.zeros(8), np.ones(8)
    rigid = [(one, zero, zero), (zero, one, zero), (zero, zero, one), (-y, x, zero), (zero, -z, y), (z, zero, -x)]
    for movement in rigid:
        assert abs(stiffness @ np.column_stack(movement).ravel()).max() < 1e-12 * abs(stiffness).max()
    assert np.count_nonzero(np.linalg.eigvalsh(stiffness) > 1e-9 * abs(stiffness).max()) == 18
    np.testing.assert_allclose(mass.sum(), 3 * script.DENSITY * 0.125)


def test_graph_embedding(tmp_path):
    w, order, a, v = run("graph_embedding", tmp_path)
    assert abs(w[0]) < 1e-10
    assert w[1] > 1e-5
    assert order > 0.99
    assert np.linalg.norm(a @ v - v * w, axis=0).max() < 1e-6


def test_electrodes(tmp_path):
    a, f, x, seen = run("electrodes", tmp_path)
    assert np.linalg.norm(a @ x - f, axis=0).max() < 1e-9 * np.linalg.norm(f.toarray(), axis=0).max()
    np.testing.assert_allclose(seen, seen.T, rtol=1e-6)
    assert (x > 0).all()
    # All current that enters leaves through the contacts.
    np.testing.assert_allclose(0.5 * np.asarray(f.sum(axis=1)).ravel() @ x, 1.0, rtol=1e-8)
