"""How far a run has come, for people who wait: a bar of tqdm, or a line on a terminal."""

import shutil
import sys
import time

from . import _communicator

_PATIENCE = 0.5  # seconds before anything is shown
_PERIOD = 0.1


def _in_notebook():
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


class Progress:
    @classmethod
    def wanted_for(cls, progress, comm, wanted, what):
        """One where there is somebody to look at it, or where it is asked for; else None."""
        if progress is None:
            progress = _in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
        return cls(wanted, what) if progress and _communicator.is_root(comm) else None

    def __init__(self, wanted, what):
        self._wanted = wanted
        self._what = what
        self._began = self._last = time.monotonic()
        self._bar = None
        self._line = False

    def update(self, now):
        moment = time.monotonic()
        if moment - self._began < _PATIENCE or moment - self._last < _PERIOD:
            return
        self._last = moment
        text = f"iteration {now['iteration']}, worst residual {now['worst']:.1e} times its goal"
        if self._bar is None and not self._line:
            self._bar = self._make_bar()
        if self._bar is None:
            line = f"{now['converged']}/{self._wanted} {self._what}, {text}"
            width = shutil.get_terminal_size().columns - 1  # a character in the last column may wrap
            sys.stderr.write("\r\033[K" + line[: max(width, 0)])
            sys.stderr.flush()
            self._line = True
            return
        self._bar.n = now["converged"]
        self._bar.set_postfix_str(text, refresh=False)
        self._bar.refresh()

    def _make_bar(self):
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
        return tqdm(total=self._wanted, desc=self._what, leave=False)

    def close(self):
        if self._bar is not None:
            self._bar.close()
        elif self._line:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
