#!/usr/bin/env python3
"""The matrices of the battery, solved by others: SciPy's eigsh and lobpcg, SLEPc's LOBPCG and Krylov-Schur.

    peers.py --battery build/release/tests/battery --ours defaults.csv --seeds 10 [--seconds 20] [--csv peers.csv]

`--ours` is what `battery --defaults --csv` wrote: the same tries are judged here by the same rules, against
numpy.linalg.eigh. Prints how often each was right, and every try where eigsh was and block-eigs was not. A peer that
is not installed is left out, and said so. Exit code 1 where there is such a try.
"""
import argparse
import csv
import glob
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import scipy.io
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg as spla

sys.path += glob.glob("/usr/lib/*/*/*real*/lib/python3/dist-packages")  # where Debian has petsc4py and slepc4py

EPSILON = np.finfo(float).eps
TOLERANCE = 1e-8
ITERATIONS = 500


class NotConverged(Exception):
    """The peer itself says that it is not done."""


class NotOffered(Exception):
    """The peer does not solve such a problem."""


def eigsh(a, b, pairs, which):
    if pairs >= a.shape[0]:
        raise NotOffered
    try:
        return spla.eigsh(a, k=pairs, M=b, which="LA" if which == "largest" else "SA")
    except spla.ArpackNoConvergence as error:
        raise NotConverged from error


def lobpcg(a, b, pairs, which):
    if 5 * pairs > a.shape[0]:  # solved densely by lobpcg itself, with a warning
        raise NotOffered
    start = np.random.default_rng(1).standard_normal((a.shape[0], pairs))
    bound = np.abs(a).sum(axis=1).max()
    return spla.lobpcg(a, start, B=b, largest=which == "largest", maxiter=ITERATIONS, tol=TOLERANCE * 1e-2 * bound)


def petsc_matrix(matrix):
    from petsc4py import PETSc
    result = PETSc.Mat().createAIJ(size=matrix.shape, csr=(matrix.indptr, matrix.indices, matrix.data))
    result.assemble()
    result.setOption(PETSc.Mat.Option.SYMMETRIC, True)
    return result


def slepc(a, b, pairs, which, kind):
    from slepc4py import SLEPc
    solver = SLEPc.EPS().create()
    solver.setOperators(petsc_matrix(a), petsc_matrix(b) if b is not None else None)
    solver.setProblemType(SLEPc.EPS.ProblemType.GHEP if b is not None else SLEPc.EPS.ProblemType.HEP)
    solver.setType(kind)
    solver.setDimensions(pairs)
    if kind == "lobpcg":  # incomplete factorisations, its default, need a diagonal without zeros
        if 5 * pairs > a.shape[0]:
            raise NotOffered
        solver.getST().getKSP().getPC().setType("jacobi" if (a.diagonal() > 0).all() else "none")
    # Krylov-Schur's own limit is what its users meet; LOBPCG has ours.
    solver.setTolerances(TOLERANCE, ITERATIONS if kind == "lobpcg" else None)
    ends = SLEPc.EPS.Which
    solver.setWhichEigenpairs(ends.LARGEST_REAL if which == "largest" else ends.SMALLEST_REAL)
    solver.solve()
    if solver.getConverged() < pairs:
        raise NotConverged
    vectors = np.empty((a.shape[0], pairs))
    values = np.empty(pairs)
    x = solver.getOperators()[0].createVecLeft()
    for j in range(pairs):
        values[j] = solver.getEigenpair(j, x).real
        vectors[:, j] = x.getArray()
    return values, vectors


PEERS = {
    "eigsh": eigsh,
    "lobpcg": lobpcg,
    "slepc_lobpcg": lambda *problem: slepc(*problem, "lobpcg"),
    "krylov_schur": lambda *problem: slepc(*problem, "krylovschur"),
}


def judge(a, b, exact, which, values, vectors):
    """The rules of tests/battery/judge.hpp: residuals within their limits, i-th value at the i-th eigenvalue."""
    if not (np.isfinite(values).all() and np.isfinite(vectors).all()):
        return "not_finite"
    scale = 2.0 ** max(-1000, np.frexp(np.abs(a.data).max() if a.nnz else 1.0)[1])
    order = np.argsort(values) if which == "smallest" else np.argsort(-values)
    values, vectors = values[order] / scale, vectors[:, order]
    image = vectors if b is None else b @ vectors
    residual = (a / scale) @ vectors - image * values
    length = np.linalg.norm(vectors, axis=0)
    norm_a = np.abs(a / scale).sum(axis=1).max()
    norm_b = 1.0 if b is None else np.abs(b).sum(axis=1).max()
    size = (norm_a + np.abs(values) * norm_b) * length
    limit = np.maximum(TOLERANCE * np.abs(values) * np.linalg.norm(image, axis=0), 10 * EPSILON * size)
    limit = 1.05 * limit + 4 * EPSILON * size
    reached = np.linalg.norm(residual, axis=0)
    if (reached > limit).any():
        return "inaccurate"
    gram = np.abs(vectors.T @ image - np.eye(len(values))).max()
    if b is not None:
        root = scipy.linalg.cholesky(b.toarray(), lower=True)
        residual = scipy.linalg.solve_triangular(root, residual, lower=True)
        condition = np.linalg.cond(b.toarray())
    else:
        condition = 1.0
    rounding = 100 * EPSILON * condition * max(np.abs(exact).max(), norm_a)
    permitted = np.linalg.norm(residual, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        permitted = np.where(reached > 0, permitted * np.maximum(1, limit / reached), limit)
    sums = np.sqrt(np.cumsum(permitted**2) / max(0.1, 1 - len(values) * gram)) + rounding
    wanted = exact[: len(values)] if which == "smallest" else exact[::-1][: len(values)]
    if (np.abs(values - wanted) > sums).any():
        return "missed"
    return "ok" if gram <= max(1e-10, 10 * EPSILON * condition) else "not_orthonormal"


def exact_values(a, b):
    scale = 2.0 ** max(-1000, np.frexp(np.abs(a.data).max() if a.nnz else 1.0)[1])
    dense = a.toarray() / scale
    return scipy.linalg.eigvalsh(dense, None if b is None else b.toarray())


def solve_tries(jobs, results):
    """The work of a process: one (peer, files, pairs, which) after the other."""
    warnings.simplefilter("ignore")
    sys.stdout = open(os.devnull, "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    read = None
    for peer, path, mass, pairs, which in iter(jobs.get, None):
        if path != read:
            a = scipy.io.mmread(path).tocsr()
            b = scipy.io.mmread(mass).tocsr() if mass else None
            exact = exact_values(a, b)
            read = path
        began = time.time()
        try:
            values, vectors = PEERS[peer](a, b, pairs, which)
            seconds = time.time() - began
            results.put((judge(a, b, exact, which, values, vectors), seconds))
        except NotConverged:
            results.put(("not_converged", time.time() - began))
        except NotOffered:
            results.put(("not_offered", 0.0))
        except Exception as error:  # whatever a peer throws is its result
            results.put(("error: " + " ".join(str(error).split())[:80], time.time() - began))


class Process:
    """A process that solves, started anew when a try takes too long or brings it down."""

    def __init__(self, limit):
        self.limit = limit
        self.child = None

    def solve(self, job):
        if self.child is None:
            context = multiprocessing.get_context("spawn")
            self.jobs, self.results = context.Queue(), context.Queue()
            self.child = context.Process(target=solve_tries, args=(self.jobs, self.results), daemon=True)
            self.child.start()
        self.jobs.put(job)
        deadline = time.time() + self.limit
        while time.time() < deadline:
            try:
                return self.results.get(timeout=0.5)
            except Exception:
                if not self.child.is_alive():
                    self.child = None
                    return "crash", 0.0
        self.child.kill()
        self.child.join()
        self.child = None
        return "too_long", self.limit


def read_ours(path):
    with open(path, newline="") as file:
        return {(row["family"], row["seed"]): row for row in csv.DictReader(file)}


def tries_of_seed(arguments, seed, folder):
    subprocess.run([arguments.battery, "--defaults", "--first-seed", str(seed), "--write", folder], check=True)
    with open(os.path.join(folder, "tries.csv"), newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["mass"] not in ("singular", "indefinite")]
    return [row for row in rows if not arguments.family or row["family"] in arguments.family]


def run(arguments):
    ours = read_ours(arguments.ours)
    process = Process(arguments.seconds)
    peers = list(PEERS)
    try:
        import slepc4py  # noqa: F401
    except ImportError:
        print("SLEPc's Python package is not installed: its solvers are left out")
        peers = ["eigsh", "lobpcg"]
    lines = []
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
        with tempfile.TemporaryDirectory() as folder:
            for one in tries_of_seed(arguments, seed, folder):
                key = (one["family"], one["seed"])
                if key not in ours:
                    continue
                path = os.path.join(folder, one["name"] + ".mtx")
                mass = os.path.join(folder, one["name"] + "_mass.mtx") if one["mass"] != "none" else None
                line = {"family": key[0], "seed": key[1], "mass": one["mass"], "ours": ours[key]["status"],
                        "ours_seconds": float(ours[key]["seconds"])}
                for peer in peers:
                    line[peer], line[peer + "_seconds"] = process.solve(
                        (peer, path, mass, int(one["pairs"]), one["which"]))
                lines.append(line)
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, lines[0].keys())
            writer.writeheader()
            writer.writerows(lines)
    return report(lines, peers)


def report(lines, peers):
    names = ["ours"] + peers
    right = {"ok", "at_limit"}

    def print_row(name, group):
        row = f"{name:20}{len(group):6}"
        for peer in names:
            offered = [line for line in group if line[peer] != "not_offered"]
            row += f"{sum(line[peer] in right for line in offered):9} of {len(offered):4}"
        print(row)

    print("right, of those that it offers to solve\n" + f"{'family':20}{'tries':>6}" + "".join(f"{n:>17}" for n in names))
    for family in sorted({line["family"] for line in lines}):
        print_row(family, [line for line in lines if line["family"] == family])
    for mass in sorted({line["mass"] for line in lines}):
        print_row("  mass " + mass, [line for line in lines if line["mass"] == mass])
    print_row("all", lines)
    for peer in names:
        kinds = {}
        for line in lines:
            kind = line[peer].split(":")[0]
            kinds[kind] = kinds.get(kind, 0) + 1
        seconds = sum(line[peer + "_seconds"] for line in lines)
        print(f"{peer:14}{seconds:8.1f} s  " + ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())))
    behind = [line for line in lines if line["eigsh"] in right and line["ours"] not in right]
    print(f"\neigsh is right and block-eigs is not in {len(behind)} tries:")
    for line in behind:
        print(f"  battery --defaults --family {line['family']} --seed {line['seed']}  # {line['ours']}, mass {line['mass']}")
    return 1 if behind else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--battery", required=True)
    parser.add_argument("--ours", required=True)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--family", action="append")
    parser.add_argument("--seconds", type=float, default=20.0, help="limit of one solve")
    parser.add_argument("--csv")
    sys.exit(run(parser.parse_args()))
