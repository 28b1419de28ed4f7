"""How a session ends: every error is printed once, by one rank; the exit code is the right one; nothing hangs."""

import os

import harness


class SessionTest(harness.AppTest):
    def ends(self, how, code, words=None, within=20):
        result = self.run_program(how, timeout=60)
        self.assertEqual(result.code, code, result)
        self.assertEqual(len(result.errors()), 0 if words is None else 1, result)
        if words is not None:
            self.assertIn(words, result.errors()[0], result)
        self.assertLess(result.seconds, within, result)
        return result

    def test_success(self):
        self.ends("well", 0)

    def test_without_ssh(self):
        """Open MPI of a process without launcher ends where it does not find it."""
        if harness.options.ranks > 1:
            self.skipTest("with a launcher it is the launcher that looks for it")
        names = ("PATH", "OMPI_MCA_plm", "OMPI_MCA_plm_rsh_agent")
        before = {name: os.environ.pop(name, None) for name in names}
        os.environ["PATH"] = self.folder
        try:
            self.ends("well", 0)
        finally:
            os.environ.update({name: value for name, value in before.items() if value is not None})

    def test_not_converged(self):
        self.ends("unconverged", 4)

    def test_error_that_all_ranks_have(self):
        self.ends("everywhere", 2, "all ranks know")

    def test_error_that_ranks_have_at_different_times(self):
        self.ends("late", 2, "all ranks know, some later")

    def test_error_of_a_collective_step(self):
        self.ends("collectively", 3, "only the last rank knows")

    def test_foreign_exceptions(self):
        self.ends("foreign", 3, "not one of ours")
        self.ends("unknown", 3, "unknown kind")
        self.ends("memory", 3, "out of memory")

    def test_mpi_without_threads_is_refused(self):
        self.ends("without-threads", 2, "does not support threads")

    def test_mpi_errors_end_the_job_whatever_handler_the_program_around_has_set(self):
        self.ends("mpi", 3, "MPI failed on rank %d: " % (harness.options.ranks - 1))

    def test_error_of_one_rank_alone_ends_the_job(self):
        if harness.options.ranks == 1:
            self.ends("alone", 3, "the last rank fails alone")
            return
        result = self.ends("alone", 3, "the last rank fails alone")
        self.assertIn("(rank 2)", result.errors()[0])

    def test_error_of_most_ranks_is_printed_once(self):
        if harness.options.ranks > 1:
            self.ends("most", 3, "all but one fail")

    def test_help_and_version_are_printed_once(self):
        result = self.run_program("--version")
        self.assertEqual((result.code, result.stdout.count("block-probe ")), (0, 1), result)
        result = self.run_program("--help")
        self.assertEqual((result.code, result.stdout.count("Usage:")), (0, 1), result)
        self.assertIn("Exit code", result.stdout)


if __name__ == "__main__":
    harness.main()
