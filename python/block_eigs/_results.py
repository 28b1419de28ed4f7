"""What comes back: pairs or solutions, with what is known of them and of the run."""

from types import SimpleNamespace

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence

from . import _words


class _Run:
    """What a run says of itself.

    Attributes
    ----------
    converged : bool
        Whether everything asked for is done.
    status : list of str
        Of each pair or right-hand side: "converged", "at_accuracy_limit" (as good as the arithmetic allows, which
        counts as done) or "not_converged".
    residual_norms : array
        Of each, computed anew in double from what is returned.
    iterations : int
        Of the solver, filters included.
    history : namespace
        residual_norms (and eigenvalues) of every iteration, with seconds and active_columns.
    times : dict
        Seconds: "setup" (matrices, preconditioner, start), "solve", of eigenpairs "proof", and "all" of the call.
    phases : dict
        Where the time of this rank went, with profile=True; else empty.
    preconditioner : list of str
        What was taken, and why, where it was chosen; what came of setting it up.
    message : str
        Why not everything is done, and what to try; empty where all is.
    config : str
        The whole config as YAML, with all defaults.
    device : str
        Where it ran.
    ranks : int
        That worked together.
    rows : int
        Of the matrix.
    nonzeros : int
        Of the matrix.
    version : str
        Of block-eigs.
    """

    def _take(self, answer, seconds):
        self.status = answer["status"]
        self.residual_norms = answer["residual_norms"]
        self.iterations = answer["iterations"]
        self.history = SimpleNamespace(**answer["history"])
        self.times = {"setup": answer["setup_seconds"], "solve": answer["solve_seconds"], "all": seconds}
        self.phases = answer["phases"]
        self.preconditioner = [_words.sentence(text) for text in answer["chosen"]]
        self.message = _message(answer)
        for name in ("device", "ranks", "rows", "nonzeros", "config", "version"):
            setattr(self, name, answer[name])

    def plot(self, axes=None):
        """Draws convergence, the spectrum with its error bounds and where the time went; with `axes` of matplotlib the
        first so many of these. Returns the figure."""
        from .pictures import plot_run

        return plot_run(self, axes)


def _message(answer):
    parts = [_words.sentence(answer[part]) for part in ("remark", "advice_reason")]
    change = answer["advice_change"]
    if answer["exception"] is not None:
        parts = parts[:1]  # it ended the run, and no limit
    elif answer["remark"].startswith("max_seconds"):
        parts = [parts[0], "try a larger max_seconds"]
    elif change == "precision=double":
        parts.append("try double precision: A.astype(float)")
    elif change:
        key, _, value = change.partition("=")
        parts.append(f"try {_words.argument(key)}={_words.value(value)}")
    else:
        parts.append(_words.sentence(answer["advice_other"]))
    return "; ".join(part for part in parts if part)


class EigenPairs(tuple, _Run):
    """Eigenpairs: unpacks as ``w, v``, and carries what is known of them.

    Beside what is said of every run:

    Attributes
    ----------
    eigenvalues : array
        w, ascending.
    eigenvectors : array or None
        v, whose columns belong to them (this rank's rows); None where they were not asked for.
    error_bounds : array
        There is an eigenvalue within this distance of each; nan where no bound is known.
    bounds : str
        What these rest on: "rigorous", "probable" or "unknown".
    attained_tolerances : array
        The tolerance that each residual would just meet.
    orthonormality : float
        Largest entry of ``|v.T @ M @ v - I|``.
    proof : namespace
        What was done to know that no pair was missed: made, statement, confidence, missing, recovered, ...
    """

    def __new__(cls, answer, k, vectors, seconds):
        w, v = answer["eigenvalues"], answer["vectors"]
        self = super().__new__(cls, (w, v) if vectors else (w,))
        self.eigenvalues = w
        self.eigenvectors = v if vectors else None
        self._take(answer, seconds)
        for name in ("error_bounds", "bounds", "attained_tolerances", "orthonormality"):
            setattr(self, name, answer[name])
        self.proof = SimpleNamespace(**answer["proof"])
        self.proof.statement = _words.sentence(self.proof.statement)
        self.times["proof"] = self.proof.seconds
        self.wanted = k
        self.converged = len(w) == k and "not_converged" not in self.status
        return self

    def __repr__(self):
        done = sum(status != "not_converged" for status in self.status)
        return (
            f"<EigenPairs: {done} of {self.wanted} pairs in {self.iterations} iterations, "
            f"{self.times['all']:.3g} s on {self.device}>"
        )

    def __reduce__(self):
        return (_pairs_again, (tuple(self), self.__dict__))


def _pairs_again(values, attributes):
    pairs = tuple.__new__(EigenPairs, values)
    pairs.__dict__.update(attributes)
    return pairs


class Solutions(_Run):
    """Solutions of A X = F, with what is known of them.

    Beside what is said of every run:

    Attributes
    ----------
    x : array
        As F was given: one dimension, or one column a right-hand side (this rank's rows).
    rhs_norms : array
        Norms of the right-hand sides.
    """

    def __init__(self, answer, seconds):
        self.x = answer["vectors"]
        self.rhs_norms = answer["rhs_norms"]
        self._take(answer, seconds)
        self.converged = "not_converged" not in self.status

    def __repr__(self):
        done = sum(status != "not_converged" for status in self.status)
        return (
            f"<Solutions: {done} of {len(self.status)} in {self.iterations} iterations, "
            f"{self.times['all']:.3g} s on {self.device}>"
        )


class NotConverged(ArpackNoConvergence):
    """Not everything that was asked for is done; what there is is here.

    Attributes
    ----------
    eigenvalues : array
        Of the pairs that are done, as SciPy's exception has them. Of `solve`: None.
    eigenvectors : array
        Theirs.
    result : EigenPairs or Solutions
        Everything, with the status of each.
    """

    def __init__(self, result):
        RuntimeError.__init__(self, _sentence(result))
        _carry(self, result)

    def __str__(self):
        return self.args[0]

    def __reduce__(self):
        return (NotConverged, (self.result,))


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run; the best that it had by then is here, as in NotConverged."""

    def __init__(self, result):
        super().__init__(_sentence(result))
        _carry(self, result)

    def __reduce__(self):
        return (Interrupted, (self.result,))


class NoCertificate(RuntimeError):
    """verify="inertia" could not be carried out; the pairs are all there, in `result`."""

    def __init__(self, result):
        super().__init__(f"no certificate: {result.proof.statement}")
        self.result = result

    def __reduce__(self):
        return (NoCertificate, (self.result,))


def raise_where_unfinished(exception, result):
    """What ended the run early, that not all is done, or that a proof which was asked for is not there."""
    if isinstance(exception, KeyboardInterrupt):
        raise Interrupted(result) from exception
    if exception is not None:
        raise exception
    if not result.converged:
        raise NotConverged(result)
    if isinstance(result, EigenPairs) and result.proof.failed:
        raise NoCertificate(result)


def _sentence(result):
    done = sum(status != "not_converged" for status in result.status)
    many, what = (
        (result.wanted, "pairs") if isinstance(result, EigenPairs) else (len(result.status), "right-hand sides")
    )
    text = f"{done} of {many} {what} are done after {result.iterations} iterations"
    return f"{text}: {result.message}" if result.message else text


def _carry(error, result):
    error.result = result
    error.eigenvalues = error.eigenvectors = None
    if isinstance(result, EigenPairs):
        done = [j for j, status in enumerate(result.status) if status != "not_converged"]
        error.eigenvalues = result.eigenvalues[done]
        if result.eigenvectors is not None:
            error.eigenvectors = result.eigenvectors[:, done]
