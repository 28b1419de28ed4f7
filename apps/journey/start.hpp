#pragma once

#include <optional>
#include <string>

namespace block_eigs {

/// Whether the launcher calls this rank 0; true without one. Needs no MPI.
bool is_first_rank();

/// Whether a launcher has started this process, by what it leaves in the environment. Needs no MPI.
bool has_launcher();

/// Open MPI looks for ssh or rsh as it starts, which it needs for other hosts alone, and ends the process where
/// there is neither, as in many containers. A process without launcher is told then that there are no other hosts,
/// unless somebody has told it something about that. Before MPI is started.
void do_without_ssh();

/// While this exists, Open MPI is told that a process that is alone shall not hand its core over to others
/// whenever a call finds no message, as it may have been told to for more ranks than cores (mpi_yield_when_idle).
/// There is no rank to make way for; and MUMPS, which looks for messages at every front, would take a hundred
/// times as long beside other programs. To be there while MPI starts.
class NoYieldingAlone {
 public:
  NoYieldingAlone();
  ~NoYieldingAlone();
  NoYieldingAlone(const NoYieldingAlone&) = delete;
  NoYieldingAlone& operator=(const NoYieldingAlone&) = delete;

 private:
  std::optional<std::string> told_;  ///< what was said before; none where it stays
};

/// Blocks that are freed go back to the system at once, whatever libraries that are loaded with the program have
/// made of that: SuperLU_DIST, which PETSc brings along, has malloc keep all it ever had, for the whole process.
/// Memory of blocks in float was then there for those in double only where these happened to fit, between what had
/// stayed.
void return_freed_blocks();

/// What has to be right before MPI is started, where memory is limited by `ulimit -v`; without a limit nothing
/// happens. Returns why the program cannot run, once for the job: on the rank that the launcher calls 0. Others,
/// which would crash in MPI, wait for it to end all ranks, and then return an empty text.
///
/// Threads of OpenBLAS take their buffers before main() and try again for ever where they get none; MPI, which
/// forks, waits for them. Where room is scarce the program starts itself anew with one such thread: then this
/// function does not return. MPI itself ends in many words and any exit code where it runs out of memory, so that
/// less than what it and OpenBLAS need at least is refused.
std::optional<std::string> prepare_for_limited_memory(char** argv);

}  // namespace block_eigs
