"""Ctrl-C while functions of the caller are at work."""

import signal
import threading


class Held:
    """Within it Ctrl-C waits until it is asked for: raised in the middle of a product it would end the run without that
    product, and thus without a result. Where it comes again it is raised at once.

    Nothing is done unless it is `wanted`, where the caller has a handler, and in threads, which hear of no signals.
    """

    def __init__(self, wanted):
        self.came = False
        self._wanted = wanted
        self._holds = False

    def __enter__(self):
        in_main = threading.current_thread() is threading.main_thread()
        self._holds = self._wanted and in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._holds:
            signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(self, *_):
        if self._holds and signal.getsignal(signal.SIGINT) == self._hear:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _hear(self, number, frame):
        if self.came:
            signal.default_int_handler(number, frame)
        self.came = True

    def raise_if_it_came(self):
        if self.came:
            raise KeyboardInterrupt
