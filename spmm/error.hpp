#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

namespace block_eigs {

/// Exit codes of the programs; 1 is left to the launcher.
enum class ExitCode : int { success = 0, invalid_input = 2, run_failed = 3, not_converged = 4 };

/// Base of every exception that this library throws on purpose.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& what) : std::runtime_error(what), code_(code) {}
  ExitCode exit_code() const { return code_; }
  /// Whether want of memory is why, of the host or of a device.
  bool of_memory() const { return of_memory_; }
  void set_of_memory() { of_memory_ = true; }

 private:
  ExitCode code_;
  bool of_memory_ = false;
};

/// The same error, for want of memory.
template <class AnyError>
AnyError of_memory(AnyError error) {
  error.set_of_memory();
  return error;
}

/// `text` with '?' for control characters. Messages quote what files hold: names and words in them must neither
/// break a line nor reach the terminal as commands.
inline std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 127; }, '?');
  return text;
}

/// Found wrong before solving: config, input file, a device that was asked for but is not there. The message is
/// one line.
class InputError : public Error {
 public:
  explicit InputError(const std::string& what) : Error(ExitCode::invalid_input, one_line(what)) {}
};

/// Failed during the run: memory, disk full, device lost.
class RunError : public Error {
 public:
  explicit RunError(const std::string& what) : Error(ExitCode::run_failed, what) {}
};

/// Part of every exception that all ranks of a communicator throw at the same place: those of
/// Communicator::collectively, and those that replicated values alone have caused. Only such an error may be
/// caught and gone on from: after any other one the ranks may be at different places.
class OnAllRanks {
 public:
  virtual ~OnAllRanks() = default;
};

/// An error of one rank that all others know of; they have a RemoteError for it.
template <class Base>
class Agreed final : public Base, public OnAllRanks {
 public:
  explicit Agreed(const Base& error) : Base(error) {}
};

/// Runs a step that ends alike on all ranks, or whose failure they are about to be told of: its errors become
/// Agreed.
template <class Step>
void agreeing(const Step& step) {
  try {
    step();
  } catch (const OnAllRanks&) {
    throw;
  } catch (const InputError& error) {
    throw Agreed<InputError>(error);
  } catch (const RunError& error) {
    throw Agreed<RunError>(error);
  }
}

/// The numbers themselves went wrong: values that are not finite, a basis without a Cholesky factor, a
/// preconditioner that is not positive definite. Thrown from replicated values, with the same text on all ranks.
class NumericalError : public RunError, public OnAllRanks {
 public:
  using RunError::RunError;
};

/// Thrown on every rank but `rank()` by Communicator::collectively when a step failed there;
/// `rank()` itself throws its own error as Agreed. Only that rank prints.
class RemoteError : public Error, public OnAllRanks {
 public:
  RemoteError(int rank, ExitCode code) : Error(code, "failed on rank " + std::to_string(rank)), rank_(rank) {}
  int rank() const { return rank_; }

 private:
  int rank_;
};

/// Throws InputError(what) unless ok.
inline void require(bool ok, std::string_view what) {
  if (!ok) throw InputError(std::string(what));
}

}  // namespace block_eigs
