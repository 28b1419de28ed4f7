"""Multigrid's set-up on a GPU that others have nearly all memory of: it works, or ends in one message with sizes and exit
code 3 on all ranks. Its levels do not depend on the precision of the run, nor on the backend."""

import contextlib
import ctypes
import re
import shutil
import sys

import harness

if shutil.which("nvidia-smi") is None:
    print("skipped: this machine has no GPU")
    sys.exit(harness.SKIPPED)

MEBIBYTE = 2**20
SIZES = r"out of memory on .*: \d+ bytes \([\d.]+ .*\) needed, \d+ bytes \(.*\) free of "


class Driver:
    """The first GPU, by the driver's own functions."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.context = ctypes.c_void_p()
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.call("cuCtxSetCurrent", self.context)

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code != 0:
            raise OSError(f"{name} ends with {code}")

    def free(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value

    @contextlib.contextmanager
    def leaving(self, mebibytes):
        """So much memory, and no more, is free to others."""
        pointer = ctypes.c_uint64()
        taken = self.free() - mebibytes * MEBIBYTE
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(taken))
        try:
            yield
        finally:
            self.call("cuMemFree_v2", pointer)


class GpuSetupTest(harness.AppTest):
    driver = None

    def setUp(self):
        super().setUp()
        if GpuSetupTest.driver is None:
            GpuSetupTest.driver = Driver()

    def runs_with(self, mebibytes):
        """Whether the run ends well; fails the test where it ends otherwise than it should."""
        with self.driver.leaving(mebibytes):
            result = self.run_program("run.yaml", timeout=120)
        about = f"with {mebibytes} MiB: {result}"
        if result.code == 0:
            return True, ""
        self.assertIn(result.code, (2, 3), about)  # foreseen for the solve, or found
        self.assertEqual(len(result.errors()), 1, about)
        self.assertIn("memory", result.errors()[0], about)
        self.assertNotIn("Abort", result.stderr, about)
        return False, result.errors()[0] if result.code == 3 else ""

    def test_out_of_memory(self):
        # A pair alone, so that the set-up takes more than the solve.
        self.config("matrix: {generate: laplacian3d, size: [128, 128, 128]}\ndevice: cuda\n"
                    "eigensolver: {pairs: 1, tolerance: 1e-4, verify: residuals, preconditioner: {type: amg}}\n")
        least, enough = 64, 8192
        self.assertTrue(self.runs_with(enough)[0])
        messages = []
        while enough - least > 16:
            middle = (least + enough) // 2
            works, message = self.runs_with(middle)
            least, enough = (least, middle) if works else (middle, enough)
            messages.append(message)
        # On the way down from what is enough memory ends at all the places where set-up takes some.
        messages += [self.runs_with(max(enough - 40 * step, 64))[1] for step in range(1, 16)]
        with_sizes = [message for message in messages if re.search(SIZES, message)]
        self.assertGreater(len(with_sizes), 3, messages)

    def test_levels_depend_on_neither_precision_nor_backend(self):
        for matrix in ("{generate: laplacian3d, size: [40, 30, 35], anisotropy: [1.0, 1.0, 0.01]}",
                       "{generate: elasticity3d, size: [12, 11, 10]}"):
            found = set()
            for device, precision in (("host", "double"), ("cuda", "double"), ("cuda", "float")):
                config = self.config(f"matrix: {matrix}\ndevice: {device}\nprecision: {precision}\n"
                                     "eigensolver: {pairs: 2, tolerance: 1e-3, preconditioner: {type: amg}}\n")
                result = self.run_program(config, timeout=120)
                self.assertEqual(result.code, 0, result)
                found.add(re.search(r"(?m)^amg: (\d+ levels, operator complexity [\d.]+)", result.stdout)[1])
            self.assertEqual(len(found), 1, found)


if __name__ == "__main__":
    harness.main()
