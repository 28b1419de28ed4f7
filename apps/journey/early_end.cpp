#include "apps/journey/early_end.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "solver/budget.hpp"
#include "spmm/unfinished_files.hpp"

namespace block_eigs {

namespace {

struct Caught {
  int signal;
  const char* name;
  StopCause cause;
};
constexpr std::array caught{Caught{SIGUSR1, "SIGUSR1", StopCause::signal_usr1},
                            Caught{SIGTERM, "SIGTERM", StopCause::signal_terminate},
                            Caught{SIGINT, "SIGINT", StopCause::signal_interrupt}};

enum class Stage : int {
  starting,   ///< MPI, and the config
  preparing,  ///< nothing to write yet
  solving,    ///< a result is on its way
  over        ///< all is written, or has failed
};

// Of the process, as signals are. Handlers touch nothing that is not free of locks.
std::atomic<Stage> stage{Stage::starting};
std::atomic<int> first_signal{0};
std::atomic<int> interrupts{0};
std::atomic<bool> speaks{true};
std::atomic<unsigned> patience{0};  ///< seconds until a signal ends what prepares itself
std::atomic<StopRequest*> wish{nullptr};
std::array<char, 256> prefix{};  ///< "block-eigs: error: "

const Caught& of(int signal) {
  for (const Caught& one : caught) {
    if (one.signal == signal) return one;
  }
  return caught.back();
}

/// Not by stdio, which a signal may have interrupted.
void say(const char* text) {
  if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

/// At once, with nothing put in order; for signal handlers.
[[noreturn]] void leave(int signal, const char* how) {
  if (speaks) {
    say(prefix.data());
    say("ended by ");
    say(of(signal).name);
    say(how);
  }
  remove_unfinished_files();
  ::_exit(128 + signal);
}

constexpr const char* nothing_written = " before there was anything to write\n";
constexpr const char* twice = " for the second time\n";

extern "C" void on_signal(int signal) {
  int none = 0;
  first_signal.compare_exchange_strong(none, signal);
  const bool again = signal == SIGINT && ++interrupts > 1;
  switch (stage.load()) {
    case Stage::starting:
    case Stage::preparing:
      if (again || patience == 0) leave(signal, nothing_written);
      ::alarm(patience);
      return;
    case Stage::solving:
      if (again) leave(signal, twice);
      if (StopRequest* stop = wish.load()) stop->request(of(signal).cause);
      return;
    case Stage::over:
      if (again) leave(signal, twice);
  }
}

/// Nobody came by to ask.
extern "C" void on_alarm(int) {
  if (stage.load() <= Stage::preparing) leave(first_signal, nothing_written);
}

void take(int signal, void (*handler)(int)) {
  struct sigaction before {};
  sigaction(signal, nullptr, &before);
  // What a shell has put into the background, or nohup started, is to go on.
  if (before.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

Interrupted::Interrupted(int signal)
    : Error(static_cast<ExitCode>(128 + signal),
            fmt::format("ended by {} before there was anything to write", of(signal).name)) {}

void catch_signals(const std::string& program, const Place& place) {
  speaks = place.is_first;
  // A launcher also sends SIGTERM where another rank has failed, and has said so: it does not wait for this one.
  patience = place.has_launcher ? 5 : 0;
  const std::string text = program + ": error: ";
  text.copy(prefix.data(), prefix.size() - 1);
  for (const Caught& one : caught) take(one.signal, on_signal);
  take(SIGALRM, on_alarm);
}

EarlyEnd::EarlyEnd(const Communicator& comm, std::optional<double> max_seconds)
    : comm_(comm), max_seconds_(max_seconds) {
  // Rank 0 speaks first where several have waited in vain; its end is that of the others.
  speaks = true;
  patience = comm.size() == 1 ? 1 : comm.is_root() ? 5 : 7;
  stage = Stage::preparing;
}

void nothing_to_end() {
  first_signal = 0;
  stage = Stage::over;
  wish = nullptr;
  ::alarm(0);
}

bool ended_by_launcher() { return stage == Stage::over && first_signal != 0; }

EarlyEnd::~EarlyEnd() { nothing_to_end(); }

void EarlyEnd::check() const {
  const std::int64_t signal = comm_.max(std::int64_t{first_signal.load()});
  if (signal > 0) throw Interrupted(static_cast<int>(signal));
}

void EarlyEnd::solving(std::shared_ptr<StopRequest> stop) {
  check();
  stop_ = std::move(stop);
  if (max_seconds_ && comm_.is_root()) stop_->end_after(*max_seconds_, began_);
  wish = stop_.get();
  stage = Stage::solving;
  ::alarm(0);
  // One that came after the check.
  if (const int late = first_signal.load()) stop_->request(of(late).cause);
}

std::string EarlyEnd::with_cause(std::string remark) const {
  if (!ended()) return remark;
  const std::int64_t cause = comm_.max(std::int64_t{static_cast<int>(stop_->own_cause())});
  std::string text = fmt::format("max_seconds = {:g} reached", max_seconds_.value_or(0.0));
  for (const Caught& one : caught) {
    if (static_cast<int>(one.cause) == cause) text = fmt::format("ended by {}", one.name);
  }
  const std::size_t at = remark.find(ended_on_request);
  if (at != std::string::npos) remark.replace(at, std::strlen(ended_on_request), text);
  return remark;
}

}  // namespace block_eigs
