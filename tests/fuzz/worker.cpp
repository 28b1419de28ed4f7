#include "tests/fuzz/worker.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <string>

// How often each edge of the code was taken: what clang's -fsanitize=fuzzer counts and libFuzzer looks at.
extern "C" {
extern std::uint8_t __start___sancov_cntrs[];
extern std::uint8_t __stop___sancov_cntrs[];

// Of the address sanitizer, see sanitizer/allocator_interface.h.
int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void*, std::size_t),
                                              void (*free_hook)(const volatile void*));
void __sanitizer_print_stack_trace();
}

namespace block_eigs::fuzz {

namespace {

/// For one input; less than libFuzzer's -timeout. A process that is stopped within malloc cannot say where it is,
/// so it is tried again and stopped at another moment; on a busy machine one that ends has not told yet.
constexpr std::array most_milliseconds = {50, 400, 900, 12000};
/// For the report of a process that is ended.
constexpr int report_milliseconds = 10000;
constexpr std::size_t most_bytes = std::size_t{1} << 20;
/// For one input: a loop that takes small pieces without end is told by its stack before it has used up the
/// memory.
constexpr long most_allocations = 2000000;
/// Inputs of one process: what a library leaks must not add up.
constexpr int most_inputs = 20000;

struct Worker {
  pid_t process = -1;
  int to = -1;    ///< sizes of inputs
  int from = -1;  ///< a byte for each that went through
  int inputs = 0;
};

std::size_t counters() { return static_cast<std::size_t>(__stop___sancov_cntrs - __start___sancov_cntrs); }

/// Room for an input, and behind it for the counters.
std::uint8_t* shared_input() {
  static auto* const memory = static_cast<std::uint8_t*>(
      ::mmap(nullptr, most_bytes + counters(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  return memory;
}

std::uint8_t* shared_counters() { return shared_input() + most_bytes; }

std::string report_path() { return "/dev/shm/fuzz_block_eigs_report_" + std::to_string(::getpid()); }

long allocations = 0;

void count_allocation(const volatile void* /*memory*/, std::size_t /*size*/) {
  if (++allocations != most_allocations) return;
  __sanitizer_print_stack_trace();
  ::_exit(1);
}

[[noreturn]] void serve(int (*run)(const std::uint8_t*, std::size_t), int from, int to,
                        const std::string& report) {
  const int file = ::open(report.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(file, STDERR_FILENO);
  __sanitizer_install_malloc_and_free_hooks(count_allocation, [](const volatile void*) {});
  for (std::size_t size = 0; ::read(from, &size, sizeof size) == sizeof size;) {
    std::memset(__start___sancov_cntrs, 0, counters());
    allocations = 0;
    run(shared_input(), size);
    std::memcpy(shared_counters(), __start___sancov_cntrs, counters());
    const char done = 1;
    if (::write(to, &done, 1) != 1) break;
  }
  ::_exit(0);
}

Worker start(int (*run)(const std::uint8_t*, std::size_t)) {
  std::array<int, 2> there{};
  std::array<int, 2> back{};
  if (::pipe(there.data()) != 0 || ::pipe(back.data()) != 0) std::abort();
  const std::string report = report_path();
  Worker worker;
  worker.process = ::fork();
  if (worker.process == 0) {
    ::close(there[1]);
    ::close(back[0]);
    serve(run, there[0], back[1], report);
  }
  ::close(there[0]);
  ::close(back[1]);
  worker.to = there[1];
  worker.from = back[0];
  return worker;
}

/// A process that still runs says where it is before it ends.
void end(Worker& worker) {
  ::kill(worker.process, SIGSEGV);
  pollfd ended{worker.from, POLLIN, 0};
  ::poll(&ended, 1, report_milliseconds);
  ::close(worker.to);
  ::close(worker.from);
  ::kill(worker.process, SIGKILL);
  ::waitpid(worker.process, nullptr, 0);
  worker = {};
}

/// Where in the HDF5 library the process was ended, by the report of its sanitizer (not symbolised): the innermost
/// places in it, up to three. Empty where the library is not in the stack: it calls none of the readers.
std::string place_in_library() {
  std::ifstream report(report_path());
  std::string place;
  int frames = 0;
  for (std::string line; std::getline(report, line);) {
    if (line.find("    #0 ") != std::string::npos && frames > 0) break;  // other stacks follow
    if (line.find("    #") == std::string::npos) continue;
    ++frames;
    const auto at = line.find("libhdf5");
    if (at == std::string::npos) {
      if (!place.empty()) break;
      continue;
    }
    const auto plus = line.find("+0x", at);
    place += (place.empty() ? "" : "-") + line.substr(plus + 3, line.find(')', plus) - plus - 3);
    if (std::count(place.begin(), place.end(), '-') == 2) break;
  }
  return place;
}

enum class Answer { done, ended, none };

/// What came of the input before the time was over. libFuzzer's clock interrupts calls.
Answer answer_of(const Worker& worker, int milliseconds) {
  pollfd answer{worker.from, POLLIN, 0};
  int ready = -1;
  do {
    ready = ::poll(&answer, 1, milliseconds);
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) return Answer::none;
  char done = 0;
  return ::read(worker.from, &done, 1) == 1 ? Answer::done : Answer::ended;
}

/// `what` it did there: of two that ended at a place the first is kept, and of two that were too slow.
void keep(const std::string& place, const char* what, const std::uint8_t* data, std::size_t size) {
  static std::set<std::string> seen;
  if (!seen.insert(what + place).second) return;
  std::fprintf(stderr, "%s within the HDF5 library, at %s\n", what, place.c_str());
  const char* folder = std::getenv("BLOCK_EIGS_FUZZ_FINDINGS");
  if (folder == nullptr) return;
  std::ofstream file(std::string(folder) + "/library-" + place, std::ios::binary);
  file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
}

}  // namespace

int run_apart(int (*run)(const std::uint8_t* data, std::size_t size), const std::uint8_t* data, std::size_t size) {
  static Worker worker;
  if (size > most_bytes) return -1;
  for (const int milliseconds : most_milliseconds) {
    if (worker.inputs >= most_inputs) end(worker);  // at rest: its report is not looked at
    if (worker.process < 0) {
      shared_input();  // for both
      worker = start(run);
    }
    ++worker.inputs;
    std::memcpy(shared_input(), data, size);
    const bool taken = ::write(worker.to, &size, sizeof size) == sizeof size;
    const Answer answer = taken ? answer_of(worker, milliseconds) : Answer::ended;
    if (answer == Answer::done) {
      std::memcpy(__start___sancov_cntrs, shared_counters(), counters());
      return 0;
    }
    end(worker);
    const std::string place = place_in_library();
    if (!place.empty()) {
      keep(place, answer == Answer::none ? "too slow" : "ended", data, size);
      return -1;
    }
  }
  run(data, size);  // most likely for the last time; a process that was slow and not ended has no report
  if (std::ifstream(report_path()).peek() == std::ifstream::traits_type::eof()) return 0;
  std::fprintf(stderr, "the process apart was ended, this one not; its report is in %s\n", report_path().c_str());
  std::abort();
}

}  // namespace block_eigs::fuzz
