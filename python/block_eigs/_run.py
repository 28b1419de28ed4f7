"""From arguments to a run of the module and its answer, for eigsh and solve."""

import collections.abc
import json
import numbers
import threading
import time
from types import SimpleNamespace

import numpy as np

from . import _communicator, _core, _inputs, _words
from ._ctrl_c import Held
from ._gpu import to_host, vectors_like
from ._progress import Progress

# Residuals for tol=0. Eigenvalues are as exact as the square of their residual, over the gap to the next one.
TOLERANCE = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-5}


def tolerance(tol, dtype):
    """That of the config for the caller's, 0 being the default."""
    return _inputs.number(tol, "tol") or TOLERANCE[dtype]


# MPI need not allow calls from several threads at once; a function that is called during a run may start another.
_turn = threading.RLock()


class Request:
    """What the module is asked for. Arrays are kept alive as long as it is."""

    def __init__(self, single, rows):
        self.config = {"matrix": {"file": "A"}, "precision": "float" if single else "double"}
        self.single = single
        self.rows = rows
        self.a = self.b = self.preconditioner = None
        self.blocks = {}

    def facts(self):
        """What ranks must agree on, as texts by the names of the arguments."""
        facts = {}
        for key, value in self.config.items():
            section = isinstance(value, dict) and "file" not in value
            items = {f"{key}.{name}": entry for name, entry in value.items()} if section else {key: value}
            facts.update((_words.argument(name), _words.shown(entry)) for name, entry in items.items())
        for name, operand in (("A", self.a), ("M", self.b), ("preconditioner", self.preconditioner)):
            if operand is not None:
                facts[name] = "a function" if callable(operand) else "a matrix"
        for name, vectors in self.blocks.items():
            facts[f"the number of columns of {name}"] = str(vectors.shape[1])
        return facts

    def add_block(self, name, vectors):
        """Puts a block in memory; returns what stands for it in the config."""
        self.blocks[name] = vectors
        return {"file": name}


def preconditioner_section(request, preconditioner, unknowns):
    """The config's section for a name, a dictionary of the config's keys, None, or an operator."""
    preconditioner = "none" if preconditioner is None else _inputs.as_operator(to_host(preconditioner))
    if isinstance(preconditioner, str):
        section = {"type": preconditioner}
    elif isinstance(preconditioner, dict):
        section = dict(preconditioner)
    elif callable(preconditioner) or hasattr(preconditioner, "matmat") or _inputs.is_matrix(preconditioner):
        request.preconditioner = _inputs.function_of(preconditioner, "the preconditioner")
        section = {"type": "none"}
    else:
        raise TypeError(
            "preconditioner must be a name such as 'amg', a dictionary of options, a LinearOperator, a matrix, a "
            f"function on blocks, or None, not {type(preconditioner).__name__}"
        )
    for name, value in unknowns.items():
        if value is not None:
            counts = name == "unknowns_per_node"
            section[name] = _inputs.integer(value, name) if counts else request.add_block(name, _inputs.block(value, name))
    return section


def _has_functions(request):
    return any(callable(f) for f in (request.a, request.b, request.preconditioner))


def device_for(device, request):
    """Functions of Python see host memory."""
    if not _has_functions(request):
        return device
    if device == "cuda":
        raise NotImplementedError("operators and functions are called with NumPy arrays: use device='host' or 'auto'")
    return "host" if device == "auto" else device


def run(entry, request, comm, callback, progress, wanted, what, matrix):
    """The module's answer, a dictionary with 'seconds' of the call added; its vectors are of the kind of `matrix`,
    NumPy's, CuPy's or PyTorch's.
    Collective."""

    def prepare():
        dtype = np.float32 if request.single else np.float64
        if callback is not None and not callable(callback):
            raise TypeError(f"callback must be a function, not {type(callback).__name__}")
        return vectors_like(matrix, dtype), Progress.wanted_for(progress, comm, wanted, what), _text_of(request.config)

    vectors, bar, config = _communicator.on_all(comm, prepare)
    held = Held(_has_functions(request))
    began = time.perf_counter()

    def after_iteration(now):
        held.raise_if_it_came()
        if bar is not None:
            bar.update(now)
        if callback is not None:
            callback(SimpleNamespace(**now))

    hear = after_iteration if callback is not None or bar is not None or _has_functions(request) else None
    with _turn, held:
        try:
            answer = entry(
                config,
                _communicator.handle_of(comm),
                request.single,
                request.rows,
                request.a,
                request.b,
                request.preconditioner,
                request.blocks,
                hear,
                vectors.place if vectors is not None and request.config["device"] != "host" else None,
            )
        except (MemoryError, RuntimeError, ValueError) as error:
            if error.__traceback__.tb_next is not None:
                raise  # a function of the caller has raised it, in words of its own
            raise type(error)(_words.sentence(str(error))) from None
        finally:
            if bar is not None:
                bar.close()
    if vectors is not None:
        vectors.take(answer)
    # It may have come after the last iteration.
    if _has_functions(request) and answer["exception"] is None and _communicator.total(comm, int(held.came)):
        answer["exception"] = KeyboardInterrupt()
    answer["seconds"] = time.perf_counter() - began
    return answer


def _text_of(config):
    """As JSON, which is YAML; numbers of NumPy in dictionaries of the caller are numbers."""

    def plain(value):
        if isinstance(value, (np.generic, np.ndarray)):
            return value.tolist()
        raise TypeError(f"{type(value).__name__} is no value of the config: {value!r}")

    return json.dumps(config, default=plain)


def extended(section, options, arguments):
    """The config's section with the caller's options. `arguments` are the names and values of the arguments that keys
    have: a key is refused where its argument was given too (neither None nor 0)."""
    if options is not None and not isinstance(options, collections.abc.Mapping):
        raise TypeError(f"options must be a dictionary, not {type(options).__name__}")
    for key in options or {}:
        name, value = arguments.get(key, (None, None))
        if value is not None and not (isinstance(value, numbers.Real) and value == 0):
            raise ValueError(f"options: {key!r} is the argument {name}: give it there alone")
    return {**section, **(options or {})}
