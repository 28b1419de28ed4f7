"""A rank that fails in the middle of a solve ends the run on all of them: within seconds, with one message where the
rank can still speak, and with nothing left in shared memory."""

import harness
import shared_memory

SECONDS = 20


class FailingRank(harness.AppTest):
    def fails(self, how):
        before = shared_memory.names()
        result = harness.run([how], self.folder, timeout=60)
        print(f"{how}: exit code {result.code} after {result.seconds:.1f} s, start included")
        self.assertNotEqual(result.code, 0, result)
        self.assertLess(result.seconds, SECONDS, result)
        self.assertEqual(shared_memory.left(before), set(), result)
        return result

    def speaks(self, how, words):
        for solver in ("", "-cg"):
            with self.subTest(solver=solver):
                result = self.fails(how + solver)
                self.assertEqual(result.code, 3, result)
                self.assertEqual(len(result.errors()), 1, result)
                self.assertIn(words, result.errors()[0], result)


class FailingRankTest(FailingRank):
    def test_exception(self):
        self.speaks("throw", "broken on purpose")

    def test_out_of_memory(self):
        self.speaks("memory", "memory")

    def test_messages_between_devices(self):
        # A message that fails as it is put into a queue, and one that fails behind that. Any rank may be the one that speaks.
        if "no CUDA backend" in harness.run(["messages"], self.folder, timeout=60).stderr:
            self.skipTest("a build without CUDA has no such messages")
        self.speaks("messages", "")
        self.speaks("messages-behind", "")

    def test_killed(self):
        for solver in ("", "-cg"):
            self.fails("kill" + solver)

    def test_crashed(self):
        self.fails("crash")


if __name__ == "__main__":
    harness.main()
