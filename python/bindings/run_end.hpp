#pragma once

// Runs of threads that are still at work when the interpreter ends (daemon threads): Python would take such a
// thread's life in the middle of ours, and MPI would end below it.
namespace block_eigs::python {

/// A run, from its first line to its last. Throws SystemExit where the interpreter is about to end. Needs the GIL.
class RunAtWork {
 public:
  RunAtWork();
  RunAtWork(const RunAtWork&) = delete;
  RunAtWork& operator=(const RunAtWork&) = delete;
  ~RunAtWork();
};

/// Throws SystemExit, which ends a thread without a word, where the interpreter is about to end. Needs the GIL.
void check_interpreter();

/// For `atexit`: runs end after their iteration. Waits for that, some seconds at most. Needs the GIL, and lets
/// others have it meanwhile.
void end_runs();
/// Whether some are at work all the same. Without the GIL as well.
bool runs_are_at_work();

}  // namespace block_eigs::python
