"""What checkpoints are refused, by name and before anything is computed, and what they leave behind."""

import fcntl
import os
import random
import resource
import shutil

import harness
import h5py
import interrupted
import numpy as np
import scipy.sparse as sp

GRID = "matrix: {generate: laplacian3d, size: [14, 15, 16]}"
SOLVER = "eigensolver: {pairs: 4, preconditioner: {type: jacobi}, filtered_start: false, dense_up_to: 0}"
CONFIG = f"{{{GRID}, {SOLVER}}}"


class RefusedTest(harness.AppTest):
    def setUp(self):
        super().setUp()
        self.name = self.config(CONFIG)
        result = self.go("eigensolver.max_iterations=20")
        self.assertEqual(result.code, 4, result)
        shutil.copy(self.path("c.h5"), self.path("good.h5"))

    def go(self, *more, checkpoint="c.h5", **extra):
        return self.run_program(self.name, f"checkpoint.file={checkpoint}", "output.file=result.h5", *more, **extra)

    def refused(self, words, *more, checkpoint="c.h5"):
        with open(self.path(checkpoint), "rb") as file:
            before = file.read()
        if os.path.exists(self.path("result.h5")):
            os.remove(self.path("result.h5"))
        result = self.go(*more, checkpoint=checkpoint)
        self.assert_refused(result, 2, words)
        self.assertTrue(result.errors()[0].startswith("checkpoint: "), result)
        self.assertNotIn("\n", result.errors()[0])
        with open(self.path(checkpoint), "rb") as file:
            self.assertEqual(file.read(), before, "the checkpoint has changed")

    def test_another_problem(self):
        self.refused(["eigensolver.pairs was 4, now it is 5"], "eigensolver.pairs=5")
        self.refused(["eigensolver.which was smallest"], "eigensolver.which=largest")
        self.refused(["eigensolver.preconditioner.type was jacobi, now it is chebyshev"],
                     "eigensolver.preconditioner={type: chebyshev}")
        self.refused(["precision was double"], "precision=float")
        self.refused(["eigensolver.seed was 1"], "eigensolver.seed=2")
        self.refused(["tolerance 1e-08", "smaller one is not"], "eigensolver.tolerance=1e-9")
        self.refused(["the matrix is another one"], "matrix={generate: laplacian3d, size: [14, 16, 15]}")
        self.refused(["the mass is another one"], "mass={generate: laplacian3d, size: [14, 15, 16]}")

    def test_one_entry(self):
        a = sp.csr_matrix(sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(900, 900)))
        self.save(a)
        self.name = self.config("{matrix: {file: a.npz}, " + SOLVER + "}", "file.yaml")
        result = self.go("eigensolver.max_iterations=10", checkpoint="file.h5")
        self.assertEqual(result.code, 4, result)
        a[500, 500] = np.nextafter(2.0, 3.0)
        self.save(a)
        self.refused(["the matrix is another one"], checkpoint="file.h5")

    def test_another_program(self):
        solve = os.path.join(os.path.dirname(harness.options.program), "block-solve")
        line = harness.command([self.name, "checkpoint.file=c.h5", "right_hand_sides={random: 2}"])
        line[line.index(harness.options.program)] = solve
        result = harness.run_command(line, self.folder)
        self.assertEqual(result.code, 2, result)
        self.assertIn("was written by block-eigs, this is block-solve", result.errors()[0])

    def test_what_may_change(self):
        """Limits, a larger tolerance, verification, device, halo, partition, output, and the number of ranks."""
        for change in ("eigensolver.max_iterations=400", "eigensolver.tolerance=1e-6", "eigensolver.verify=residuals",
                       "device=host", "halo=staged", "output.eigenvectors=false", "eigensolver.dense_up_to=10",
                       "checkpoint.every=1h"):
            shutil.copy(self.path("good.h5"), self.path("c.h5"))
            result = self.go(change)
            self.assertEqual(result.code, 0, f"{change}\n{result}")
            self.assertIn("goes on from iteration 20", result.stdout, change)

    def test_damaged(self):
        """Bytes that are others, and files that are cut off: one sentence, or, where nothing that counts is there,
        a run that goes on."""
        with open(self.path("good.h5"), "rb") as file:
            good = file.read()
        draw = random.Random(3)
        refused = 0
        for i in range(12):
            bad = bytearray(good)
            if i % 3 == 2:
                bad = bad[: draw.randrange(len(bad))]
            else:
                place = draw.randrange(len(bad))
                bad[place] ^= 1 << draw.randrange(8)
            with open(self.path("c.h5"), "wb") as file:
                file.write(bad)
            result = self.go("eigensolver.max_iterations=20")
            self.assertIn(result.code, (2, 4), result)
            if result.code == 2:
                refused += 1
                self.assertEqual(len(result.errors()), 1, result)
                self.assertTrue(result.errors()[0].startswith("checkpoint: "), result)
        self.assertGreater(refused, 6)

    def test_damaged_numbers(self):
        """One bit of X, one number, one text, a set of vectors that is gone."""
        with h5py.File(self.path("c.h5"), "r+") as file:
            file["vectors/x"][100, 2] = np.nextafter(file["vectors/x"][100, 2], 1.0)
        self.refused(["is damaged", "/vectors/x"])
        shutil.copy(self.path("good.h5"), self.path("c.h5"))
        with h5py.File(self.path("c.h5"), "r+") as file:
            file["numbers/ritz_values"][1] += 1e-9
        self.refused(["is damaged", "/numbers/ritz_values"])
        shutil.copy(self.path("good.h5"), self.path("c.h5"))
        with h5py.File(self.path("c.h5"), "r+") as file:
            file.attrs["along"] = "nothing"
        self.refused(["is damaged", "contents"])
        shutil.copy(self.path("good.h5"), self.path("c.h5"))
        with h5py.File(self.path("c.h5"), "r+") as file:
            del file["vectors/p"]
        self.refused(["is damaged", "/vectors/p"])
        # Shapes of more than the file holds: neither memory nor time is spent on them.
        for object, shape, chunks in (("numbers/ritz_values", (2**47,), (1024,)), ("vectors/x", (2**40, 4), (256, 4))):
            shutil.copy(self.path("good.h5"), self.path("c.h5"))
            with h5py.File(self.path("c.h5"), "r+") as file:
                del file[object]
                file.create_dataset(object, shape, "f8", chunks=chunks)[0] = 1.0
            self.refused(["is damaged", "/" + object])
        self.claim_more_than_there_is("numbers/ritz_values")
        self.refused(["is damaged", "/numbers/ritz_values"])
        with h5py.File(self.path("c.h5"), "w") as file:
            file["a"] = 1.0
        self.refused(["is no checkpoint"])
        with open(self.path("c.h5"), "w") as file:
            file.write("text")
        self.refused(["c.h5"])

    def claim_more_than_there_is(self, object, elements=1237):
        """The list of numbers has 2^40 of them, says the file, and their 2^43 bytes as well."""
        shutil.copy(self.path("good.h5"), self.path("c.h5"))
        with h5py.File(self.path("c.h5"), "r+") as file:
            del file[object]
            file.create_dataset(object, (elements,), "f8")[:] = 1.0
        with open(self.path("c.h5"), "rb") as file:
            damaged = file.read()
        for number, claimed in ((elements, 2**40), (8 * elements, 2**43)):
            self.assertIn(number.to_bytes(8, "little"), damaged)
            damaged = damaged.replace(number.to_bytes(8, "little"), claimed.to_bytes(8, "little"))
        with open(self.path("c.h5"), "wb") as file:
            file.write(damaged)

    def test_two_runs(self):
        with open(self.path("c.h5.lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.refused(["another run is at work on"])
        os.remove(self.path("c.h5.lock"))
        result = self.go()
        self.assertEqual(result.code, 0, result)
        self.assertFalse(os.path.exists(self.path("c.h5.lock")))

    def test_left_over(self):
        """What a killed run was writing goes; other files stay."""
        for name in ("c.h5.partial-123", "c.h5.probe-7", "c.h5.partial-12x", "d.h5.partial-123"):
            open(self.path(name), "w").close()
        result = self.go()
        self.assertEqual(result.code, 0, result)
        left = sorted(name for name in os.listdir(self.folder) if "partial" in name or "probe" in name)
        self.assertEqual(left, ["c.h5.partial-12x", "d.h5.partial-123"])

    def test_config(self):
        for words, *overrides in (
            ("needs 'file'", "checkpoint={every: 1min}"),
            ("such as 10min", "checkpoint={file: c.h5, every: soon}"),
            ("such as 10min", "checkpoint={file: c.h5, every: -1}"),
            ("does not exist", "checkpoint={file: no/c.h5}"),
            ("is the file of the result too", "checkpoint={file: r.h5}", "output={file: ./r.h5}"),
        ):
            result = self.run_program(self.name, *overrides)
            self.assertEqual(result.code, 2, result)
            self.assertIn(words, result.errors()[0], result)

    def test_full_disk(self):
        """A checkpoint that cannot be written does no harm to the run, and none to the older one."""
        limit = 8 << 20
        config = self.config("{matrix: {generate: laplacian3d, size: [44, 44, 44]}, eigensolver: {pairs: 16,"
                             " tolerance: 1e-4, preconditioner: {type: jacobi}, filtered_start: false}}", "large.yaml")
        stopped = self.run_program(config, "checkpoint.file=d.h5", "eigensolver.max_iterations=10", timeout=120)
        self.assertEqual(stopped.code, 4, stopped)
        with open(self.path("d.h5"), "rb") as file:
            before = file.read()
        self.assertGreater(len(before), limit)
        result = self.run_program(config, "checkpoint.file=d.h5", timeout=120,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertEqual(result.code, 0, result)
        self.assertIn("checkpoint: not written", result.stdout)
        with open(self.path("d.h5"), "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual([name for name in os.listdir(self.folder) if "partial" in name], [])


if __name__ == "__main__":
    harness.main()
