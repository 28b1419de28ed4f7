#include "tests/battery/driver.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "spmm/error.hpp"

namespace block_eigs::test {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point then) { return std::chrono::duration<double>(Clock::now() - then).count(); }

/// A process that works on every step-th try.
struct Worker {
  pid_t pid = -1;
  Share share;
  std::string errors;         ///< file of its stderr
  std::streamoff read = 0;    ///< of the results file
  long current = -1;          ///< try that has begun and is not done
  Clock::time_point began{};  ///< that try, or the process
  bool ended = false;         ///< all of its share is done
  double spent = 0.0;
};

void start(Worker& worker, const Plan& plan, const Launch& launch) {
  std::vector<std::string> words;
  if (launch.ranks > 1) words = {BLOCK_EIGS_MPIEXEC, "-n", std::to_string(launch.ranks)};
  words.push_back(launch.program);
  words.insert(words.end(), launch.arguments.begin(), launch.arguments.end());
  const double left = plan.seconds > 0.0 ? std::max(0.001, plan.seconds - worker.spent) : 0.0;
  for (const std::string& word : {std::string("--seconds"), fmt::format("{}", left), std::string("--worker"),
                                  worker.share.results, std::string("--from"), std::to_string(worker.share.first),
                                  std::string("--step"), std::to_string(worker.share.step)}) {
    words.push_back(word);
  }
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  worker.current = -1;
  worker.began = Clock::now();
  std::fflush(stdout);
  worker.pid = fork();
  if (worker.pid != 0) return;
  setpgid(0, 0);
  const int file = open(worker.errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  execvp(argv[0], argv.data());
  _exit(127);
}

/// Lines that have come since the last call.
void read_results(Worker& worker, std::vector<Record>& records) {
  std::ifstream in(worker.share.results);
  in.seekg(worker.read);
  for (std::string line; std::getline(in, line) && !in.eof();) {
    worker.read = in.tellg();
    if (const auto record = from_line(line)) {
      records.push_back(*record);
      worker.current = -1;
      worker.share.first = record->index + worker.share.step;
    } else if (line.starts_with("begin")) {
      worker.current = std::stol(line.substr(6));
      worker.spent += seconds_since(worker.began);
      worker.began = Clock::now();
    } else if (line == "end") {
      worker.ended = true;
    }
  }
}

std::string last_words(const Worker& worker) {
  std::ifstream in(worker.errors);
  std::ostringstream text;
  text << in.rdbuf();
  const std::string all = text.str();
  constexpr std::size_t most = 400;
  return all.size() > most ? all.substr(0, most) : all;
}

/// The try at which a worker ended is done too, in its way; the worker goes on behind it.
void give_up_try(Worker& worker, const Plan& plan, Status status, const std::string& detail,
                 std::vector<Record>& records) {
  const long index = std::max(worker.current, worker.share.first);
  const Try one = make_try(plan.mode, family_of(plan, index), seed_of(plan, index));
  records.push_back(record_of(index, one, {status, 0.0, 0.0, 0.0, detail}, 0, seconds_since(worker.began)));
  worker.share.first = index + worker.share.step;
  worker.spent += seconds_since(worker.began);
}

void stop(pid_t pid) {
  kill(-pid, SIGTERM);
  for (int wait = 0; wait < 50; ++wait) {
    if (waitpid(pid, nullptr, WNOHANG) == pid) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  kill(-pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

/// Whether the worker still has something to do.
bool look_after(Worker& worker, const Plan& plan, const Launch& launch, std::vector<Record>& records) {
  int state = 0;
  const bool gone = waitpid(worker.pid, &state, WNOHANG) == worker.pid;
  read_results(worker, records);
  if (!gone) {
    constexpr double start_up = 60.0;
    if (seconds_since(worker.began) < plan.try_limit + (worker.current < 0 ? start_up : 0.0)) return true;
    stop(worker.pid);
    give_up_try(worker, plan, Status::hang, fmt::format("nothing after {:.0f} s", plan.try_limit), records);
  } else {
    if (worker.ended) return false;
    require(worker.current >= 0, "a process of the battery does not start: " + last_words(worker));
    const std::string how = WIFSIGNALED(state) ? fmt::format("signal {}", WTERMSIG(state))
                                               : fmt::format("exit {}", WEXITSTATUS(state));
    give_up_try(worker, plan, Status::crash, how + ": " + last_words(worker), records);
  }
  if (worker.share.first >= plan.tries || (plan.seconds > 0.0 && worker.spent > plan.seconds)) return false;
  start(worker, plan, launch);
  return true;
}

}  // namespace

std::vector<Record> carry_out(const Plan& plan, const Launch& launch) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("block_eigs_battery_{}", getpid());
  std::filesystem::create_directories(folder);
  std::vector<Worker> workers(static_cast<std::size_t>(std::min<long>(launch.jobs, std::max(1L, plan.tries))));
  for (std::size_t w = 0; w < workers.size(); ++w) {
    workers[w].share = {static_cast<long>(w), static_cast<long>(workers.size()),
                        (folder / fmt::format("results_{}", w)).string()};
    workers[w].errors = (folder / fmt::format("errors_{}", w)).string();
    std::ofstream(workers[w].share.results) << "";  // now it exists
    start(workers[w], plan, launch);
  }
  std::vector<Record> records;
  while (!workers.empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::erase_if(workers, [&](Worker& worker) { return !look_after(worker, plan, launch, records); });
  }
  std::filesystem::remove_all(folder);
  std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) { return a.index < b.index; });
  return records;
}

}  // namespace block_eigs::test
