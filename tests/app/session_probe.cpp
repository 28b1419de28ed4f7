// A program that fails in the way that its CONFIG argument names, to see how a session ends.
#include <chrono>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "apps/journey/session.hpp"
#include "spmm/error.hpp"
#include "spmm/parallel/communicator.hpp"

namespace {

using block_eigs::Communicator;
using block_eigs::ExitCode;
using block_eigs::InputError;
using block_eigs::RunError;

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
  if (how == "late") std::this_thread::sleep_for(std::chrono::seconds(comm.rank()));
  if (how == "late") throw InputError("all ranks know, some later");
  comm.barrier();
  return how == "unconverged" ? ExitCode::not_converged : ExitCode::success;
}

}  // namespace

int main(int argc, char** argv) { return block_eigs::run_session(argc, argv, "block-probe", "Fails.", fail); }
