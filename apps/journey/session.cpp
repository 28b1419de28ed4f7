#include "apps/journey/session.hpp"

#include <mpi.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/config/help.hpp"
#include "apps/journey/early_end.hpp"
#include "apps/journey/standard_output.hpp"
#include "apps/journey/start.hpp"
#include "apps/report/summary.hpp"
#include "apps/report/text.hpp"
#include "io/hdf5/hdf5_errors.hpp"
#include "io/petsc/bridge/petsc_session.hpp"
#include "solver/small/lapack_buffers.hpp"
#include "spmm/device/address_space.hpp"
#include "spmm/device/cores.hpp"
#include "spmm/parallel/job_end.hpp"
#include "spmm/unfinished_files.hpp"

namespace block_eigs {

namespace {

/// How an error ended the work of this rank.
struct Failure {
  std::string message;  ///< empty where another rank has it
  ExitCode code = ExitCode::run_failed;
};

/// MPI from the first call to the last; PETSc, where something has started it, ends before.
class MpiSession {
 public:
  MpiSession(int& argc, char**& argv) {
    const NoYieldingAlone no_yielding;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided_);
    // What belongs to no communicator of ours: requests, types, and what libraries do.
    end_job_on_errors(MPI_COMM_WORLD);
    end_job_on_errors(MPI_COMM_SELF);
  }
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  ~MpiSession() {
    petsc::finalize();
    MPI_Finalize();
  }

  /// Whether MPI may be called in a process with threads.
  bool allows_threads() const { return provided_ >= MPI_THREAD_FUNNELED; }

 private:
  int provided_ = MPI_THREAD_SINGLE;
};

/// Help, version and mistakes end the run here: then the exit code is returned. Only the root prints.
std::optional<ExitCode> parse(int argc, char** argv, const std::string& purpose, bool root, Arguments& arguments) {
  CLI::App app(purpose, arguments.program);
  CLI::Option* check = app.add_flag(
      "--check", arguments.check,
      "Read and check everything, print the resolved config and the memory that a rank will need; solve nothing");
  CLI::Option* json = app.add_flag("--json", arguments.json,
                                   "Nothing on standard output but a summary, one line of JSON; no progress");
  app.add_flag("-q,--quiet", arguments.quiet, "Nothing on standard output, no progress; errors and warnings stay")
      ->excludes(json);
  json->excludes(check);
  app.set_version_flag("--version", fmt::format("{} {}", arguments.program, version()));
  const CLI::Option* config = app.add_option("CONFIG.yaml", arguments.config,
                                             "What to compute, '-' for standard input; keys are listed below");
  app.add_option("overrides", arguments.overrides,
                 "Replaces or adds a value of the config, such as eigensolver.pairs=16 (the value in YAML)");
  app.footer(
      fmt::format("{}\n"
                  "Runs by itself or under mpirun: mpirun -n 4 {} CONFIG.yaml\n"
                  "Exit code: 0 done; 2 wrong input or config; 3 failed during the run; 4 not all converged.",
                  config_help(), arguments.program));
  try {
    app.parse(argc, argv);
    // Not by CLI11, which would say no more than that of a mistyped option.
    if (config->count() == 0) throw CLI::RequiredError(config->get_name(true));
  } catch (const CLI::Success& wanted) {
    if (root) app.exit(wanted);
    return ExitCode::success;
  } catch (const CLI::ParseError& mistake) {
    if (root) {
      const std::string hint = hint_for_option(argc, argv);
      fmt::print(stderr, "{0}: error: {1}; {2}\n", arguments.program, mistake.what(),
                 hint.empty() ? fmt::format("'{} --help' explains", arguments.program) : hint);
    }
    return ExitCode::invalid_input;
  }
  return std::nullopt;
}

Failure describe_current_exception() {
  try {
    throw;
  } catch (const RemoteError& error) {
    return {"", error.exit_code()};
  } catch (const Error& error) {
    return {error.what(), error.exit_code()};
  } catch (const std::bad_alloc&) {
    return {"out of memory on this machine" + address_space_remark(), ExitCode::run_failed};
  } catch (const std::exception& error) {
    return {fmt::format("unexpected error: {}", error.what()), ExitCode::run_failed};
  } catch (...) {
    return {"unexpected error of unknown kind", ExitCode::run_failed};
  }
}

void print(const Arguments& arguments, const Communicator& comm, const Failure& failure) {
  const std::string rank = comm.is_root() ? "" : fmt::format(" (rank {})", comm.rank());
  fmt::print(stderr, "{}: error: {}{}\n", arguments.program, failure.message, rank);
  std::fflush(stderr);
}

/// Ranks that failed find out who prints, over a communicator of their own, so that calls which others may still
/// be in do not mix with theirs. Where not all ranks arrive in time, the first to lose patience prints and aborts.
ExitCode settle(const Communicator& comm, const Arguments& arguments, const Failure& failure) {
  using Clock = std::chrono::steady_clock;
  constexpr auto patience = std::chrono::seconds(5);
  constexpr auto turn = std::chrono::milliseconds(300);
  const std::int64_t speaker = failure.message.empty() ? comm.size() : comm.rank();
  const std::int64_t mine = speaker * 256 + static_cast<std::int64_t>(failure.code);
  std::int64_t first = mine;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&mine, &first, 1, MPI_INT64_T, MPI_MIN, comm.handle(), &request);
  const auto deadline = Clock::now() + patience + turn * std::min(comm.rank(), 20);
  int all_here = 0;
  while (MPI_Test(&request, &all_here, MPI_STATUS_IGNORE), all_here == 0) {
    if (Clock::now() > deadline) {
      if (!failure.message.empty() && !ended_by_launcher()) print(arguments, comm, failure);
      remove_unfinished_files();
      MPI_Abort(comm.handle(), static_cast<int>(failure.code));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (first / 256 == comm.rank()) print(arguments, comm, failure);
  return static_cast<ExitCode>(first % 256);
}

/// From MPI's first communicator on. An exception is an error before ranks can tell each other of any.
ExitCode run_on_ranks(int argc, char** argv, const std::string& purpose, const Program& program, bool threads,
                      Arguments& arguments) {
  const Communicator comm(MPI_COMM_WORLD);
  take_share_of_cores(comm.node_rank(), comm.node_size());
  const Communicator failures(MPI_COMM_WORLD);
  std::optional<SilentOutput> silence;
  std::optional<Failure> failure;
  ExitCode code = ExitCode::success;
  try {
    require(threads, "this MPI library does not support threads (MPI_THREAD_FUNNELED is needed)");
    if (const auto ended = parse(argc, argv, purpose, comm.is_root(), arguments)) return *ended;
    if (arguments.silent()) silence.emplace();
    if (arguments.json && comm.is_root())
      arguments.summarise = [&](const std::string& line) { silence->write_line(line); };
    comm.collectively(lapack::reserve_buffers);
    code = program(comm, arguments);
  } catch (...) {
    failure = describe_current_exception();
  }
  // A launcher that sees the first rank end badly sends SIGTERM to the others.
  nothing_to_end();
  if (failure) {
    code = settle(failures, arguments, *failure);
    // Another rank's words are on standard error alone.
    if (arguments.summarise) arguments.summarise(summary(arguments.program, failure->message, code));
  }
  return code;
}

}  // namespace

int run_session(int argc, char** argv, const std::string& name, const std::string& purpose,
                const Program& program) {
  if (const std::optional<std::string> lacking = prepare_for_limited_memory(argv)) {
    if (!lacking->empty()) fmt::print(stderr, "{}: error: {}\n", name, *lacking);
    return static_cast<int>(ExitCode::run_failed);
  }
  catch_signals(name, {.is_first = is_first_rank(), .has_launcher = has_launcher()});
  start_hdf5_for_good();
  do_without_ssh();
  return_freed_blocks();
  const MpiSession mpi(argc, argv);
  // A file size limit is then an error of the write that meets it, not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  Arguments arguments;
  arguments.program = name;
  try {
    return static_cast<int>(run_on_ranks(argc, argv, purpose, program, mpi.allows_threads(), arguments));
  } catch (...) {
    const Failure failure = describe_current_exception();
    end_job(failure.code, fmt::format("{}: error: {}", name, failure.message).c_str());
  }
}

}  // namespace block_eigs
