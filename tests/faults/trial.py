"""One run with one fault, and what there is to say against how it went."""

import dataclasses
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import settings

SECONDS = 60
FAILED = (2, 3)


@dataclasses.dataclass(frozen=True)
class Where:
    """The run that the fault befalls."""

    setting: str
    ranks: int
    failing: str  # "last" or "all"


@dataclasses.dataclass
class Outcome:
    where: Where
    fault: str
    fired: bool
    code: int
    seconds: float
    messages: list
    against: list  # what should not have happened, in words
    stderr: str

    def within_hdf5(self):
        """Whether the library crashed, by the innermost place that is not the system's (Open MPI prints them)."""
        places = [line for line in re.findall(r"\] \[ *\d+\] (\S+)", self.stderr) if "libc.so" not in line]
        return bool(places) and "/libhdf5" in places[0]


class Bench:
    """Runs programs with the injector: `programs` is the folder where they are."""

    def __init__(self, programs, injector, mpiexec, device="auto"):
        self.programs, self.injector, self.mpiexec, self.device = programs, injector, mpiexec.split(), device
        self.inputs = tempfile.mkdtemp(prefix="block_eigs_faults_")
        settings.write_inputs(self.inputs)
        self.expected = {}

    def close(self):
        shutil.rmtree(self.inputs, ignore_errors=True)

    def run(self, where, fault, folder, report):
        program, _ = settings.SETTINGS[where.setting]
        launcher = [] if where.ranks == 1 else self.mpiexec + [str(where.ranks)]
        faults = [f"LD_PRELOAD={self.injector}", f"BLOCK_EIGS_FAULT={fault}", f"BLOCK_EIGS_FAULT_RANK={where.failing}",
                  f"BLOCK_EIGS_FAULT_REPORT={report}"]
        line = launcher + ["env"] + faults + [os.path.join(self.programs, program), where.setting + ".yaml", f"device={self.device}"]
        process = subprocess.Popen(line, cwd=folder, text=True, errors="replace", start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        began = time.monotonic()
        try:
            _, stderr = process.communicate(timeout=SECONDS)
            return process.returncode, stderr, time.monotonic() - began
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            _, stderr = process.communicate()
            return None, stderr, SECONDS

    def counts(self, where):
        """Calls of a rank that fails, {"read:program": 17}, the most of any; keeps what a run without faults leaves."""
        folder = self.folder()
        report = folder + ".report"
        try:
            code, stderr, _ = self.run(where, "", folder, report)
            if code != 0:
                raise AssertionError(f"{where} does not even work without a fault: exit code {code}\n{stderr}")
            self.expected[where] = settings.contents(os.path.join(folder, settings.RESULT))
            counts = {}
            for rank in [where.ranks - 1] if where.failing == "last" else range(where.ranks):
                with open(f"{report}.{rank}", encoding="ascii") as file:
                    for words in (line.split() for line in file):
                        counts[words[1]] = max(counts.get(words[1], 0), int(words[2]))
            return counts
        finally:
            self.remove(folder)

    def folder(self):
        folder = tempfile.mkdtemp(prefix="block_eigs_fault_")
        shutil.copytree(self.inputs, folder, dirs_exist_ok=True)
        with open(os.path.join(folder, settings.RESULT), "wb") as file:
            file.write(settings.OLD)
        return folder

    def remove(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        for rank in range(8):
            if os.path.exists(f"{folder}.report.{rank}"):
                os.remove(f"{folder}.report.{rank}")

    def attempt(self, where, fault):
        if where not in self.expected:
            self.counts(where)
        folder = self.folder()
        report = folder + ".report"
        try:
            code, stderr, seconds = self.run(where, fault, folder, report)
            fired = any(os.path.exists(f"{report}.{rank}") and "fired" in open(f"{report}.{rank}", encoding="ascii").read()
                        for rank in range(where.ranks))
            messages = re.findall(r"^block-[a-z]+: error: (.*)$", stderr, re.MULTILINE)
            against = said_wrongly(code, messages) + self.left_wrongly(where, fault, folder, code)
            return Outcome(where, fault, fired, code, seconds, messages, against, stderr)
        finally:
            self.remove(folder)

    def left_wrongly(self, where, fault, folder, code):
        """Files that are not what they should be."""
        against = []
        with open(os.path.join(folder, settings.RESULT), "rb") as file:
            is_old = file.read(len(settings.OLD) + 1) == settings.OLD
        if is_old and code in (0, 4):
            against.append("no result, and nothing said of it")
        if not is_old:
            wrong = settings.wrong_result(where.setting, os.path.join(folder, settings.RESULT), self.expected[where], code)
            against += [f"result: {wrong}"] if wrong else []
        checkpoint = os.path.join(folder, settings.CHECKPOINT)
        if os.path.exists(checkpoint):
            try:
                settings.contents(checkpoint)
            except (OSError, KeyError, ValueError, RuntimeError) as error:
                against.append(f"checkpoint cannot be read: {error}")
        known = set(os.listdir(self.inputs)) | {settings.RESULT, settings.CHECKPOINT}
        left = sorted(re.sub(r"\d+$", "N", name) for name in set(os.listdir(folder)) - known)
        if is_of(fault, "unlink", "remove"):
            left = []  # what cannot be removed stays
        return against + [f"left behind: {name}" for name in left]


def is_of(fault, *functions):
    return fault.split(":")[0] in functions


def said_wrongly(code, messages):
    if code is None:
        return [f"hangs: killed after {SECONDS} s"]
    if code not in (0, 4) + FAILED:
        return [f"exit code {code}"]
    wanted = 1 if code in FAILED else 0
    return [] if len(messages) == wanted else [f"{len(messages)} messages with exit code {code}"]


def shared_memory():
    return {name for name in os.listdir("/dev/shm") if name.startswith("block")}
