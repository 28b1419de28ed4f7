"""The whole table: python3 campaign.py --programs BUILD --injector LIBRARY [--only eigs-npz --ranks 2 ...]. Prints what was
tried, what was survived, what the programs said, and everything that speaks against them (exit code 1 then)."""

import argparse
import collections
import concurrent.futures
import json
import random
import re
import sys

import plans
import settings
import trial

LIMITS = {"memory": 40, "memory, within libraries": 12, "files": 4, "files, within libraries": 3, "HDF5": 3, "MPI": 4, "CUDA": 20}


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", required=True)
    parser.add_argument("--injector", required=True)
    parser.add_argument("--mpiexec", default="mpirun -n")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=float, default=1.0, help="times the usual number of tries a function")
    parser.add_argument("--tries", type=int, default=0, help="so many of all these, drawn at random; 0: all")
    parser.add_argument("--only", nargs="*", default=list(settings.SETTINGS))
    parser.add_argument("--kinds", nargs="*", default=list(LIMITS))
    parser.add_argument("--functions", default="", help="a regular expression")
    parser.add_argument("--ranks", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--device", choices=("auto", "host", "cuda"), default="auto")
    parser.add_argument("--failing", nargs="*", default=["last", "all"])
    parser.add_argument("--log", default="", help="a file for one line of JSON a try")
    return parser.parse_args()


def runs(given):
    for name in given.only:
        for ranks in given.ranks:
            for failing in given.failing if ranks > 1 else ["all"]:
                yield trial.Where(name, ranks, failing)


def tries(given, bench):
    """Also counts the calls of each kind that there were to choose from."""
    limits = {row: max(2, round(limit * given.every)) for row, limit in LIMITS.items()}
    found, calls = [], collections.Counter()
    for n, where in enumerate(runs(given)):
        counts = bench.counts(where)
        for key, count in counts.items():
            calls[plans.kind(*key.split(":"))] += count
        for row, fault in plans.faults(counts, limits, given.seed + n):
            if row in given.kinds and re.search(given.functions, fault):
                found.append((row, where, fault))
    if given.tries and given.tries < len(found):
        found = random.Random(given.seed).sample(found, given.tries)
    return found, calls


def general(message):
    """A message without what changes from run to run."""
    if message.startswith("exit code"):
        return message
    message = re.sub(r"\S*block_eigs_fault_\w+/", "", re.sub(r"/dev/shm/\w+", "/dev/shm/X", message))
    return re.sub(r"(probe|partial)-\d+", r"\1-N", re.sub(r"\b\d+\b", "N", message))


def print_table(rows, calls):
    print(f"\n| {'what fails':26} | calls | tried | reached | survived | exit 2 | exit 3 | exit 4 | crash within HDF5 | anything else |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for row, outcomes in rows.items():
        reached = [one for one in outcomes if one.fired]
        of = collections.Counter(one.code for one in reached if not one.against)
        crashed = sum(one.within_hdf5() for one in outcomes)
        wrong = sum(bool(one.against) for one in outcomes) - crashed
        print(f"| {row:26} | {calls[row]} | {len(outcomes)} | {len(reached)} | {of[0]} | {of[2]} | {of[3]} | {of[4]} | {crashed} | {wrong} |")


def print_messages(rows):
    print("\nMessages, and how often:")
    for row, outcomes in rows.items():
        said = collections.Counter(general(text) for one in outcomes for text in one.messages)
        for text, count in said.most_common():
            print(f"  {row:24} {count:5}  {text}")


def print_findings(rows):
    findings = collections.defaultdict(list)
    for outcomes in rows.values():
        for one in outcomes:
            for what in one.against:
                findings["within the HDF5 library: " * one.within_hdf5() + general(what)].append(one)
    for what, outcomes in sorted(findings.items(), key=lambda item: -len(item[1])):
        print(f"\nAGAINST ({len(outcomes)}): {what}")
        for one in outcomes[:8]:
            print(f"  {one.where.setting} {one.where.ranks} {one.where.failing} {one.fault}: exit code {one.code}, {one.messages[:2]}")
    return sum("within the HDF5" not in what for what in findings)


def main():
    given = arguments()
    bench = trial.Bench(given.programs, given.injector, given.mpiexec, given.device)
    rows = collections.defaultdict(list)
    shared_memory = trial.shared_memory()
    log = open(given.log, "a", encoding="utf-8") if given.log else None
    try:
        todo, calls = tries(given, bench)
        print(f"{len(todo)} faults", flush=True)
        with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
            futures = {pool.submit(bench.attempt, where, fault): row for row, where, fault in todo}
            for done in concurrent.futures.as_completed(futures):
                one = done.result()
                rows[futures[done]].append(one)
                if log:
                    where = one.where
                    log.write(json.dumps([where.setting, where.ranks, where.failing, one.fault, one.fired, one.code,
                                          round(one.seconds, 2), one.messages, one.against, one.stderr[-3000:]]) + "\n")
                    log.flush()
    finally:
        bench.close()
    print_table(rows, calls)
    print_messages(rows)
    findings = print_findings(rows)
    left = trial.shared_memory() - shared_memory
    if left:  # by which of them cannot be told: they run side by side
        print(f"\nAGAINST: left in shared memory: {sorted(left)}")
    sys.exit(1 if findings or left else 0)


if __name__ == "__main__":
    main()
