#include "tests/battery/worker.hpp"

#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <limits>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "apps/input/stopwatch.hpp"
#include "spmm/error.hpp"
#include "tests/battery/record.hpp"
#include "tests/battery/solve_try.hpp"
#include "tests/battery/systems.hpp"

namespace block_eigs::test {

namespace {

struct Failure {
  std::string message;
  int code = 0;
};

/// Ranks that come out of a try wait for the others over a communicator of their own; where some do not come,
/// they are in a call that those outside will never join.
void wait_for_all(const Communicator& meeting, const std::optional<Failure>& failure) {
  constexpr auto patience = std::chrono::seconds(20);
  std::int64_t mine = failure ? 1 : 0;
  std::int64_t sum = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, meeting.handle(), &request);
  const auto deadline = std::chrono::steady_clock::now() + patience;
  int all_here = 0;
  while (MPI_Test(&request, &all_here, MPI_STATUS_IGNORE), all_here == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      fmt::print(stderr, "ranks are at different places; rank {}: {}\n", meeting.rank(),
                 failure ? failure->message : "done");
      std::fflush(stderr);
      MPI_Abort(meeting.handle(), 1);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

std::optional<Failure> attempt(const Communicator& comm, const Try& one, const RunConfig& config, Answer& answer) {
  try {
    answer = one.mode == Mode::systems ? solve_system(comm, one, config) : solve_try(comm, one, config);
  } catch (const Error& error) {
    return Failure{error.what(), static_cast<int>(error.exit_code())};
  } catch (const std::exception& error) {
    return Failure{fmt::format("unexpected error: {}", error.what()), static_cast<int>(ExitCode::run_failed)};
  }
  return std::nullopt;
}

Verdict judge_outcome(const Try& one, const RunConfig& config, const std::optional<Failure>& failure,
                      const Answer& answer) {
  const double epsilon = config.precision == Precision::float32 ? std::numeric_limits<float>::epsilon()
                                                                : std::numeric_limits<double>::epsilon();
  const bool system = one.mode == Mode::systems;
  if (failure && system) return judge_system_error(one, failure->message, failure->code);
  if (failure) return judge_error(one, config, failure->message, failure->code);
  return system ? judge_system(one, answer, config, epsilon)
                : judge(one, answer, config.eigensolver.options, epsilon);
}

Record run_try(const Communicator& comm, const Communicator& meeting, const Plan& plan, long index) {
  const Try one = make_try(plan.mode, family_of(plan, index), seed_of(plan, index));
  const Stopwatch watch;
  Answer answer;
  RunConfig config;
  try {
    config = config_of(one, plan.overrides);
  } catch (const Error& error) {
    return record_of(index, one, judge_outcome(one, config, Failure{error.what(), 2}, answer), 0, 0.0);
  }
  const std::optional<Failure> failure = attempt(comm, one, config, answer);
  const double seconds = watch.seconds();
  wait_for_all(meeting, failure);
  Verdict verdict;
  if (comm.is_root()) verdict = judge_outcome(one, config, failure, answer);
  return record_of(index, one, verdict, answer.iterations, seconds);
}

}  // namespace

const Family& family_of(const Plan& plan, long index) {
  const auto place = static_cast<std::size_t>(index) % plan.families.size();
  return families()[static_cast<std::size_t>(plan.families[place])];
}

std::uint64_t seed_of(const Plan& plan, long index) {
  return plan.first_seed + static_cast<std::uint64_t>(index) / plan.families.size();
}

void work(const Plan& plan, const Share& share) {
  const Communicator comm(MPI_COMM_WORLD);
  const Communicator meeting(MPI_COMM_WORLD);
  std::ofstream out;
  if (comm.is_root()) out.open(share.results, std::ios::app);
  const Stopwatch all;
  for (long index = share.first; index < plan.tries; index += share.step) {
    if (comm.any(plan.seconds > 0.0 && all.seconds() > plan.seconds)) break;
    if (comm.is_root()) out << fmt::format("begin\t{}", index) << std::endl;
    const Record record = run_try(comm, meeting, plan, index);
    if (comm.is_root()) out << to_line(record) << std::endl;
  }
  if (comm.is_root()) out << "end" << std::endl;
}

}  // namespace block_eigs::test
