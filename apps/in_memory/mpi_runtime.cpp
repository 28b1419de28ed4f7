#include "apps/in_memory/mpi_runtime.hpp"

#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "apps/journey/start.hpp"
#include "io/petsc/bridge/petsc_session.hpp"
#include "solver/small/lapack_buffers.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// The process that has started MPI by start_mpi, or found it running; 0 before.
pid_t process = 0;
bool started_here = false;

/// Instead of the end of the process. Frames of MPI are left behind, which keeps nothing that is needed: after an
/// error MPI's state is undefined anyway.
void throw_error(MPI_Comm* /*comm*/, int* error, ...) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(*error, text.data(), &length);
  throw RunError(std::string("MPI failed: ") + text.data());
}

/// The communicator with errors that are exceptions; its duplicates inherit that.
Communicator throwing(Communicator comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(throw_error, &handler);
  MPI_Comm_set_errhandler(comm.handle(), handler);
  MPI_Errhandler_free(&handler);
  return comm;
}

/// Names of the variables that processes started by this one will have.
std::set<std::string> environment_names() {
  std::set<std::string> names;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    names.emplace(text.substr(0, text.find('=')));
  }
  return names;
}

/// Takes variables of MPI out of the environment, but for those that are among `kept`.
void unset_variables_of_mpi(const std::set<std::string>& kept) {
  for (const std::string& name : environment_names()) {
    const bool of_mpi = name.starts_with("OMPI_") || name.starts_with("PMIX_") || name.starts_with("PMI_") ||
                        name.starts_with("ORTE_") || name.starts_with("PRTE_");
    if (of_mpi && kept.count(name) == 0) unsetenv(name.c_str());
  }
}

}  // namespace

bool start_mpi() {
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0) throw RunError("MPI has been finalized in this process and cannot be started again");
  if (process != 0 && process != getpid()) {
    throw RunError(
        "MPI was started before this process was forked from another one, and does not work here: start "
        "processes anew (multiprocessing: the start method 'spawn' or 'forkserver'), or fork before the "
        "first solve");
  }
  int running = 0;
  MPI_Initialized(&running);
  const bool found = running != 0 && process == 0;
  int provided = MPI_THREAD_SINGLE;
  if (running == 0) {
    // Whoever loads MPI after us may want to call it from threads.
    const std::set<std::string> before = environment_names();
    do_without_ssh();
    const NoYieldingAlone no_yielding;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    unset_variables_of_mpi(before);
    started_here = true;
  } else {
    MPI_Query_thread(&provided);
  }
  if (provided < MPI_THREAD_FUNNELED) {
    throw RunError("MPI was started without support for threads (MPI_THREAD_FUNNELED is needed)");
  }
  if (process == 0) lapack::reserve_buffers();
  process = getpid();
  return found;
}

void forget_variables_of_mpi(const std::set<std::string>& known) {
  int running = 0;
  MPI_Initialized(&running);
  if (running != 0) unset_variables_of_mpi(known);
}

void end_mpi() {
  int ended = 0;
  MPI_Finalized(&ended);
  if (!started_here || process != getpid() || ended != 0) return;
  petsc::finalize();
  MPI_Finalize();
}

Communicator own_communicator() { return throwing(Communicator(MPI_COMM_SELF)); }

Communicator communicator_from(int fortran_handle) {
  return throwing(Communicator(MPI_Comm_f2c(static_cast<MPI_Fint>(fortran_handle))));
}

std::string mpi_library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return text.data();
}

}  // namespace block_eigs
