"""The report: one well-formed page that needs nothing else, whatever the result file holds."""

import os
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree

import h5py
import numpy as np
import programs
import pytest
from conftest import laplacian

pytest.importorskip("matplotlib")

from block_eigs import eigsh, solve  # noqa: E402
from block_eigs.files import FileError, read_result  # noqa: E402
from block_eigs.report import main, report  # noqa: E402
from programs import EIGEN, LINEAR  # noqa: E402


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """One file of each kind: by AMG begun in float, not converged, generalized without bound, dense, linear, linear in
    float."""
    folder = tmp_path_factory.mktemp("results")
    programs.run("block-eigs", folder, EIGEN.replace("result.h5", "amg.h5"))
    programs.run(
        "block-eigs",
        folder,
        EIGEN.replace("result.h5", "open.h5").replace("amg", "jacobi"),
        "eigensolver.max_iterations=4",
        "eigensolver.filtered_start=false",
        code=4,
    )
    programs.run(
        "block-eigs",
        folder,
        "matrix: {generate: laplacian2d, size: [5, 4]}\neigensolver: {pairs: 6}\n" "output: {file: dense.h5}\n",
    )
    programs.run(
        "block-eigs",
        folder,
        "matrix: {generate: laplacian2d, size: [40, 30]}\neigensolver: {pairs: 60}\n" "output: {file: many.h5}\n",
    )
    programs.run("block-solve", folder, LINEAR.replace("result.h5", "linear.h5"))
    programs.run("block-solve", folder, LINEAR.replace("result.h5", "float.h5"), "linear_solver.inner_precision=float")
    return folder


def check_page(page):
    """Well-formed, no two elements of one id, every reference inside the page, nothing fetched from elsewhere."""
    tree = xml.etree.ElementTree.fromstring(page.split("\n", 1)[1])
    ids = [element.get("id") for element in tree.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    for element in tree.iter():
        assert element.tag not in ("script", "link", "img", "iframe", "image", "object"), element.tag
        for key, value in element.attrib.items():
            if key.endswith(("href", "src")):
                assert value.startswith("#") and value[1:] in ids, (key, value)
            for target in re.findall(r"url\(([^)]*)\)", value):
                assert target.startswith("#") and target[1:] in ids, (key, value)
    assert not re.search(r"https?:|//[a-z]|@import|@font-face", page), re.search(
        r".{40}(https?:|//[a-z]|@import).{40}", page
    )
    assert page.startswith("<!DOCTYPE html>\n<html")
    return tree


def text_of(tree):
    return " ".join(" ".join(tree.itertext()).split())


@pytest.mark.parametrize("name", ["amg", "open", "dense", "many", "linear", "float"])
def test_page_of_every_kind(results, name):
    tree = check_page(report(results / f"{name}.h5"))
    text = text_of(tree)
    result = read_result(results / f"{name}.h5")
    assert result.attributes["matrix"] in text
    for heading in ("Convergence", "Time and memory", "Status", "Config"):
        assert heading in [element.text for element in tree.iter("h2")]
    assert len(list(tree.iter("tr"))) == 1 + len(result.status)
    assert result.config.strip() in "".join(tree.find(".//pre").itertext())
    assert ("not converged" in text) == (name == "open")


def test_what_a_page_says(results):
    text = text_of(check_page(report(results / "amg.h5")))
    for words in (
        "all 5 pairs done",
        "to the tolerance 1e-08",
        "amg (aggregation, float) (given in the config)",
        "levels",
        "float",
        "double",
        "goal",
        "On grey ground",
        "The bounds are rigorous",
        "VᵀBV",
        "Spectrum",
    ):
        assert words in text, words
    text = text_of(check_page(report(results / "open.h5")))
    for words in ("5 of 5 pairs not converged", "max_iterations = 4 reached", "a cross where it was left"):
        assert words in text, words
    text = text_of(check_page(report(results / "float.h5")))
    assert "All iterations work in single precision" in text
    assert "all 4 right-hand sides done" in text


def test_two_runs_side_by_side(results):
    tree = check_page(report([results / "amg.h5", results / "open.h5"]))
    text = text_of(tree)
    assert tree.find("body").get("class") == "two"
    assert "amg.h5" in text and "open.h5" in text and "columns multiplied with A" in text
    assert "The first 5 eigenvalues differ by at most" in text
    assert "within the sum of their error bounds" in text
    assert "not compared" in text_of(check_page(report([results / "amg.h5", results / "dense.h5"])))
    check_page(report([results / "linear.h5", results / "float.h5"]))
    check_page(report([results / "amg.h5", results / "linear.h5"]))
    with pytest.raises(ValueError, match="one result or two, not 3"):
        report([results / "amg.h5"] * 3)


def test_missing_groups(results, tmp_path):
    """Whatever an older version did not write is left out, one group after the other."""
    path = tmp_path / "old.h5"
    path.write_bytes((results / "amg.h5").read_bytes())
    for name in (
        "times",
        "preconditioners",
        "history/in_float",
        "history/products",
        "error_bounds",
        "attained_tolerances",
        "history",
    ):
        with h5py.File(path, "a") as file:
            del file[name]
        check_page(report(path))
    with h5py.File(path, "a") as file:
        for name in list(file.attrs):
            if name != "program":
                del file.attrs[name]
    assert "5 pairs done" in text_of(check_page(report(path)))


def test_no_pair_was_found(results, tmp_path):
    """A run that ended in its first window, say."""
    path = tmp_path / "none.h5"
    path.write_bytes((results / "open.h5").read_bytes())
    with h5py.File(path, "a") as file:
        for name in ("eigenvalues", "residual_norms", "error_bounds", "attained_tolerances", "converged", "status"):
            values, attributes = file[name][:0], dict(file[name].attrs)
            del file[name]
            file[name] = values
            file[name].attrs.update(attributes)
        del file["checksums"]
    text = text_of(check_page(report(path)))
    assert "5 of 5 pairs not converged" in text and "No pair was found" in text
    check_page(report([results / "amg.h5", path]))


def test_values_that_are_not_finite_or_zero(results, tmp_path):
    path = tmp_path / "odd.h5"
    path.write_bytes((results / "amg.h5").read_bytes())
    with h5py.File(path, "a") as file:
        file["error_bounds"][:] = np.nan
        file["eigenvalues"][0] = 0.0
        file["history/residual_norms"][:, 1] = np.nan
        file["history/residual_norms"][2:, 0] = 0.0
        file["attained_tolerances"][2] = np.inf
        del file["checksums"]
    text = text_of(check_page(report(path)))
    assert "unknown" in text


def test_text_of_the_file_is_no_markup(results, tmp_path):
    path = tmp_path / "evil.h5"
    path.write_bytes((results / "open.h5").read_bytes())
    with h5py.File(path, "a") as file:
        file.attrs["matrix"] = "<script>alert('&')</script>"
        file.attrs["remark"] = 'a < b & "c"'
    text = text_of(check_page(report(path)))
    assert "<script>alert('&')" in text and 'a < b & "c"' in text


def test_dark_and_light_shades(results):
    """No colour of the pictures is fixed: every one is a variable that the style sheet has in two shades."""
    page = report(results / "amg.h5")
    drawings = "".join(re.findall(r"<svg.*?</svg>", page, re.S))
    assert set(re.findall(r"#[0-9a-f]{6}\b", drawings)) <= {"#ffffff", "#000000"}
    used = set(re.findall(r"var\(--([a-z0-9]+)\)", page))
    dark = page[page.index("prefers-color-scheme: dark") :]
    assert used - {"font", "mono", "key"} <= set(re.findall(r"--([a-z0-9]+):", dark[: dark.index("}")]))


def test_damaged_files_are_named(results, tmp_path, capsys):
    path = tmp_path / "kind.h5"
    path.write_bytes((results / "amg.h5").read_bytes())
    with h5py.File(path, "a") as file:
        file.attrs["rows"] = "some"
    with pytest.raises(FileError, match="kind.h5: damaged, no page can be made of it: "):
        report(path)
    content, count = bytearray((results / "amg.h5").read_bytes()), struct.pack("<Q", 5)
    with h5py.File(results / "amg.h5") as file:
        place = content.index(count, h5py.h5o.get_info(file["eigenvalues"].id).addr)
    content[place + 4] = 1  # four thousand million entries more
    path.write_bytes(content)
    assert main([str(path), "-o", str(tmp_path / "page.html")]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"block_eigs.report: error: {path}: damaged: ") and error.count("\n") == 1


def test_program(results, tmp_path, capsys):
    output = tmp_path / "page.html"
    assert main([str(results / "amg.h5"), "-o", str(output)]) == 0
    check_page(output.read_text(encoding="utf-8"))
    assert capsys.readouterr().out.strip() == str(output)
    output.unlink()
    (tmp_path / "text.h5").write_text("no HDF5")
    for name, words in (("nowhere.h5", "no such file"), ("text.h5", "not an HDF5 file")):
        assert main([str(tmp_path / name), "-o", str(output)]) == 2
        error = capsys.readouterr().err
        assert error.startswith("block_eigs.report: error: ") and words in error and error.count("\n") == 1
    assert main([str(results / "amg.h5"), "-o", str(tmp_path / "missing" / "page.html")]) == 2
    assert not output.exists()


@pytest.mark.parametrize("two", [False, True])
def test_results_in_memory_are_told_where_pages_come_from(results, two):
    A, _ = laplacian(12, 13)
    for result, kind in ((eigsh(A, k=2), "EigenPairs"), (solve(A, np.ones(A.shape[0])), "Solutions")):
        with pytest.raises(TypeError, match=f"its path, or what read_result returns, not {kind}; .* plot"):
            report([results / "amg.h5", result] if two else result)


def test_as_a_module(results, tmp_path):
    """As the docs call it, in a process of its own."""
    package = os.path.dirname(os.path.dirname(sys.modules["block_eigs.report"].__file__))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([package, os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "-m", "block_eigs.report", str(results / "amg.h5"), str(results / "open.h5")],
        cwd=tmp_path,
        env=environment,
        text=True,
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    check_page((tmp_path / "report.html").read_text(encoding="utf-8"))


def test_pictures_of_plain_arrays():
    """What a result object in memory gives to plot_run."""
    from types import SimpleNamespace

    import matplotlib

    matplotlib.use("Agg")
    from block_eigs.pictures import plot_run

    history = SimpleNamespace(
        residual_norms=np.geomspace(1, 1e-9, 12)[:, None] * [1.0, 2.0], in_float=np.arange(12) < 5
    )
    run = SimpleNamespace(
        history=history,
        residual_norms=[1e-9, 2e-9],
        limits=np.array([1e-8, 1e-8]),
        eigenvalues=np.array([1.0, 2.0]),
        error_bounds=None,
        status=["converged", "not_converged"],
        phases={"SpMM": 0.2, "other": 0.1},
        preconditioners=[],
    )
    figure = plot_run(run)
    assert len(figure.axes) == 3
    figure = matplotlib.figure.Figure()
    assert plot_run(run, figure.subplots()) is figure
    del history.in_float, run.limits, run.error_bounds, run.phases, run.preconditioners
    plot_run(run)
    run.config, run.attained_tolerances = "eigensolver:\n  tolerance: 1e-08\n", [1e-9, 1e-7]
    assert "÷ its limit" in plot_run(run).axes[0].get_ylabel()
    linear = SimpleNamespace(
        history=history, residual_norms=[1e-9, 2e-9], rhs_norms=[1.0, 0.0], requested_tolerance=1e-8
    )
    plot_run(linear)
    run.history = SimpleNamespace(residual_norms=np.zeros((0, 2)))
    plot_run(run)
