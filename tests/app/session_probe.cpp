// A program that fails in the way that its CONFIG argument names, to see how a session ends.
#include <mpi.h>

#include <chrono>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "apps/journey/session.hpp"
#include "spmm/error.hpp"
#include "spmm/parallel/communicator.hpp"

namespace {

using block_eigs::Communicator;
using block_eigs::ExitCode;
using block_eigs::InputError;
using block_eigs::RunError;

/// An MPI call that goes wrong on the last rank, where the program around has asked for errors to be returned.
void misuse_mpi(bool last) {
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
  const Communicator comm(parent);
  MPI_Comm_free(&parent);
  if (last) MPI_Send(nullptr, 0, MPI_INT, comm.size() + 5, 0, comm.handle());
  comm.barrier();
}

ExitCode fail(const Communicator& comm, const block_eigs::Arguments& arguments) {
  const std::string& how = arguments.config;
  const bool last = comm.rank() == comm.size() - 1;
  if (how == "everywhere") throw InputError("all ranks know");
  if (how == "unknown") throw 42;
  if (how == "foreign") throw std::logic_error("not one of ours");
  if (how == "memory") throw std::bad_alloc();
  if (how == "collectively") {
    comm.collectively([&] {
      if (last) throw RunError("only the last rank knows");
    });
  }
  if (how == "alone" && last) throw RunError("the last rank fails alone");
  if (how == "most" && comm.rank() > 0) throw RunError("all but one fail");
  if (how == "mpi") misuse_mpi(last);
  if (how == "late") std::this_thread::sleep_for(std::chrono::seconds(comm.rank()));
  if (how == "late") throw InputError("all ranks know, some later");
  comm.barrier();
  return how == "unconverged" ? ExitCode::not_converged : ExitCode::success;
}

}  // namespace

namespace {
bool without_threads = false;
}

/// In place of MPI's own: a library that was built without support for threads.
extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int result = PMPI_Init_thread(argc, argv, required, provided);
  if (without_threads) *provided = MPI_THREAD_SINGLE;
  return result;
}

int main(int argc, char** argv) {
  without_threads = argc > 1 && std::string_view(argv[1]) == "without-threads";
  return block_eigs::run_session(argc, argv, "block-probe", "Fails.", fail);
}
