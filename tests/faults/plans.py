"""Which faults there are to try, from how often each function is called."""

import random

# Ways in which a function fails; "+": from that call on for ever. HDF5 and MPI simply fail.
ALLOCATIONS = {"malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "mmap"}
OPENING = ("ENOENT", "EACCES", "EMFILE")
WAYS = {
    **dict.fromkeys(ALLOCATIONS, ("ENOMEM",)),
    **dict.fromkeys(("open", "openat", "fopen"), OPENING),
    **dict.fromkeys(("creat", "mkostemp", "memfd_create"), ("EMFILE", "ENOSPC")),
    **dict.fromkeys(("opendir", "fdopendir", "dup", "dup2"), ("EMFILE",)),
    **dict.fromkeys(("read", "pread"), ("EIO", "EINTR", "short", "end")),
    "readv": ("EIO",),
    **dict.fromkeys(("write", "pwrite"), ("EIO", "ENOSPC", "+ENOSPC", "EINTR", "short")),
    "writev": ("EIO", "ENOSPC"),
    "lseek": ("EIO",),
    "fsync": ("EIO",),
    **dict.fromkeys(("ftruncate", "fallocate"), ("ENOSPC", "EIO")),
    **dict.fromkeys(("rename", "unlink", "remove"), ("EACCES", "ENOENT")),
    "close": ("EIO",),
    **dict.fromkeys(("stat", "lstat", "fstat"), ("ENOENT", "EACCES")),
    "access": ("EACCES",),
    # cudaErrorMemoryAllocation, cudaErrorUnknown.
    "cuda": ("2", "999"),
    "flock": ("ENOLCK", "EINTR"),
}
# The programs' own bookkeeping of calls, and what has no way to fail.
LEFT_OUT = {"H5open"}
# Until our handler of MPI's errors is there, on MPI_COMM_WORLD and MPI_COMM_SELF, MPI's own ends the job.
FIRST = {"MPI_Comm_create_errhandler": 2, "MPI_Comm_set_errhandler": 3}


def kind(function, caller):
    """The row of the table."""
    if function.startswith("MPI_"):
        return "MPI"
    if function.startswith("H5"):
        return "HDF5"
    if function.startswith("cuda"):
        return "CUDA"
    group = "memory" if base(function) in ALLOCATIONS else "files"
    return group if caller == "program" else f"{group}, within libraries"


def base(function):
    return "cuda" if function.startswith("cuda") else function.removesuffix("64")


def sample(first, count, most, draw):
    """The first and the last call, and others between, `most` in all."""
    if count - first < most:
        return range(first, count + 1)
    return sorted({first, count} | set(draw.sample(range(first + 1, count), most - 2)))


def faults(counts, limits, seed):
    """(kind, fault) of calls counted as {"read:program": 17}; `limits`: tries a function and way, by kind."""
    draw = random.Random(seed)
    for key, count in sorted(counts.items()):
        function, caller = key.split(":")
        if function in LEFT_OUT:
            continue
        first = FIRST.get(function, 1)
        row = kind(function, caller)
        for way in WAYS.get(base(function), ("fail",)):
            lasting = "+" if way.startswith("+") else ""
            for k in sample(first, count, limits[row], draw):
                yield row, f"{key}:{k}{lasting}:{way.lstrip('+')}"
