"""Ranks: an mpi4py communicator, or this process alone."""

import os

from . import _core


def forget_variables():
    """If MPI runs, takes back its variables, by which launchers that are started from here would take themselves for parts
    of this process's job. Those that Python knows stay: the caller's, or, under mpirun, a launcher's."""
    _core.forget_variables_of_mpi(set(os.environ))


def start_mpi():
    """MPI runs afterwards, and launchers can be started from here."""
    if _core.start_mpi():
        forget_variables()


def check(comm):
    """TypeError unless it is a communicator of mpi4py, or None. Of one MPI runs afterwards."""
    if comm is not None and not (hasattr(comm, "py2f") and hasattr(comm, "allgather")):
        raise TypeError(f"comm must be a communicator of mpi4py, not {type(comm).__name__}")
    if comm is not None:
        start_mpi()  # mpi4py can be told to leave that to others


def handle_of(comm):
    """The number by which the module knows the communicator; None for this process alone. MPI runs afterwards."""
    start_mpi()
    if comm is None:
        return None
    from mpi4py import MPI

    ours, theirs = _core.mpi_library_version(), MPI.Get_library_version()
    if ours.rstrip("\0") != theirs.rstrip("\0"):
        raise RuntimeError(
            f"mpi4py and block_eigs use different MPI libraries, {_first_line(theirs)} and {_first_line(ours)}: "
            "install both for the same one"
        )
    return comm.py2f()


def is_root(comm):
    return comm is None or comm.Get_rank() == 0


def on_all(comm, step):
    """step(), which may raise on some ranks alone: then all raise, Ctrl-C included. Collective."""
    if comm is None or comm.Get_size() == 1:
        return step()
    result = failure = None
    try:
        result = step()
    except BaseException as error:  # the others wait in any case
        failure = error
    interrupted = isinstance(failure, KeyboardInterrupt)
    raised = comm.allgather(None if failure is None else (interrupted, f"{type(failure).__name__}: {failure}"))
    if failure is not None:
        raise failure
    for rank, there in enumerate(raised):
        if there is not None:
            raise (KeyboardInterrupt if there[0] else RuntimeError)(f"failed on rank {rank}: {there[1]}")
    return result


def total(comm, count):
    """Sum over the ranks. Collective."""
    return count if comm is None else comm.allreduce(count)


def agree(comm, facts):
    """Raises ValueError on all ranks, about the first that differs, unless they all have the same facts: texts by the
    names of arguments. Collective."""
    if comm is None or comm.Get_size() == 1:
        return
    first, *others = comm.allgather(facts)
    for rank, other in enumerate(others, start=1):
        for name in {**first, **other}:
            here, there = first.get(name, "not given"), other.get(name, "not given")
            if here != there:
                raise ValueError(
                    f"{name} must be the same on all ranks, but is {here} on rank 0 and {there} on rank {rank}"
                )


def _first_line(text):
    return text.split("\n")[0].split(",")[0]
