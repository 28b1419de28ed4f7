"""The scripts that draw measurements, with the figures of docs/plots."""

import csv
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("matplotlib")

TREE = pathlib.Path(__file__).resolve().parents[2]
PLOTS = TREE / "docs" / "plots"


def run(folder, script, *arguments, code=0):
    done = subprocess.run(
        [sys.executable, "-B", str(TREE / "scripts" / script), *map(str, arguments)],
        cwd=folder,
        text=True,
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def pictures(folder):
    found = sorted(path.name for path in folder.glob("*.png"))
    assert all((folder / name).read_bytes().startswith(b"\x89PNG") for name in found)
    return found


def test_spmm(tmp_path):
    run(tmp_path, "plot-spmm", PLOTS / "spmm-h200.csv", tmp_path, "--peers", PLOTS / "spmm-peers-h200.csv")
    assert pictures(tmp_path) == ["spmm-double.png", "spmm-float.png", "spmm-ratios.png"]


def test_spmm_without_peers(tmp_path):
    """As gpu-check calls it, with all columns of the bench; on some machines there is no cuSPARSE."""
    head = (
        "group,matrix,precision,rows,columns,nonzeros,n,floor_us,row_split_us,merge_us,auto_us,chosen,setup_ms,fraction,"
        "peer_us,peer_algorithm,peer_over_auto,dense_us,difference"
    )
    lines = [f"plain,a,double,9,9,27,{n},1.0,2.0,3.0,2.0,merge,0.1,0.5,0,,0,0,0" for n in (4, 8)]
    (tmp_path / "spmm.csv").write_text("\n".join([head, *lines]) + "\n")
    run(tmp_path, "plot-spmm", "spmm.csv")
    assert pictures(tmp_path) == ["spmm-double.png"]


def test_figures_of_the_paper(tmp_path):
    head = (
        "group,matrix,precision,rows,columns,nonzeros,n,floor_us,row_split_us,merge_us,auto_us,chosen,setup_ms,fraction,"
        "peer_us,peer_algorithm,peer_over_auto,dense_us,difference"
    )
    lines = [
        f"{group},m{k},float,{2**k},64,{100 * k},64,1,{2 + k},3,2,merge,0.1,0.5,{4 + k},alg1,2,{5 - k},0"
        for group in ("aspect", "long-rows", "collection", "fill")
        for k in range(1, 4)
    ]
    (tmp_path / "paper.csv").write_text("\n".join([head, *lines]) + "\n")
    run(tmp_path, "plot-spmm", "paper.csv", "out")
    assert pictures(tmp_path / "out") == ["aspect.png", "collection.png", "fill.png", "rows.png"]


def test_solvers(tmp_path):
    run(tmp_path, "plot-solvers", f"host={PLOTS / 'eigen-host-48.csv'}", f"GPU={PLOTS / 'linear-gpu-128.csv'}")
    assert pictures(tmp_path) == ["solvers.png"]
    assert "TITLE=CSV" in run(tmp_path, "plot-solvers", PLOTS / "eigen-host-48.csv", code=2)
    assert "no figures of a contest" in run(tmp_path, "plot-solvers", f"x={PLOTS / 'spmm-h200.csv'}", code=1)


def test_terminal(tmp_path):
    """Of lines that were written over the one in the middle stays."""
    program = tmp_path / "program"
    program.write_text(
        "print('begin', flush=True)\n"
        "for k in range(5): print(f'\\r\\033[Kiteration {k}', end='', flush=True)\n"
        "print('\\r\\033[Kend  \\n')\n"
    )
    run(tmp_path, "plot-terminal", "--columns", 40, sys.executable, program)
    assert pictures(tmp_path) == ["terminal.png"]
    loader = importlib.machinery.SourceFileLoader("plot_terminal", str(TREE / "scripts" / "plot-terminal"))
    script = importlib.util.module_from_spec(importlib.util.spec_from_loader("plot_terminal", loader))
    loader.exec_module(script)
    lines = script.lines_of(script.output([sys.executable, str(program)], 40))
    assert lines == [("begin", False), ("iteration 2", True), ("end  ", False)]
    assert "exit code 3" in run(tmp_path, "plot-terminal", sys.executable, "-c", "raise SystemExit(3)", code=1)


def test_hypre_over_sizes(tmp_path):
    """By way of PETSc and SLEPc it has lines of its own colour and is in the legend."""
    head = (PLOTS / "sizes-eigen.csv").read_text(encoding="utf-8").splitlines()[0]
    lines = [
        f"{grid},16,1e-06,1,{name},-eps_type lobpcg,{grid * times / 100},,,0,20,0.001,16,1e-07,1e-13"
        for grid in (24, 64)
        for name, times in (("block-eigs amg", 1), ("slepc-gamg", 3), ("slepc-hypre", 2))
    ]
    (tmp_path / "sizes.csv").write_text("\n".join([head, *lines]) + "\n")
    run(tmp_path, "plot-solvers", "a=sizes.csv", "-o", "sizes.svg")
    drawn = (tmp_path / "sizes.svg").read_text(encoding="utf-8")
    for text in ("64³", "slepc-hypre ×2", ">hypre<", ">SLEPc<"):
        assert text in drawn, text
    assert "#a5517f" in drawn  # hypre's colour


def test_scipy_over_sizes(tmp_path):
    """SciPy's figures have the columns of the benches; several sizes make lines."""
    files = []
    for grid in (6, 8):
        files.append(f"eigen{grid}.csv")
        run(tmp_path, "bench-scipy", "--grid", grid, "--pairs", 3, "--repeats", 1, "--csv", files[-1])
        run(tmp_path, "bench-scipy", "--grid", grid, "--sides", 3, "--repeats", 1, "--csv", f"linear{grid}.csv")
    with (
        open(tmp_path / "eigen8.csv", encoding="utf-8") as ours,
        open(PLOTS / "eigen-host-48.csv", encoding="utf-8") as bench,
    ):
        rows = list(csv.DictReader(ours))
        assert list(rows[0]) == next(csv.reader(bench))
    assert [row["contender"] for row in rows] == ["SciPy eigsh, sigma", "SciPy eigsh", "SciPy lobpcg"]
    for row in rows:  # what passes over a copy of a multiple eigenvalue has not found all
        assert float(row["worst_error"]) < 1e-4 or int(row["converged"]) < 3, row
    run(tmp_path, "plot-solvers", "a=" + ",".join(files), "b=linear6.csv,linear8.csv", "-o", "sizes.png")
    assert pictures(tmp_path) == ["sizes.png"]
