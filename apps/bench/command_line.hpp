#pragma once

#include <memory>
#include <string>
#include <vector>

namespace block_eigs::bench {

/// The command line of a bench: options that fill in variables, whose values before are the defaults, which --help
/// shows.
class CommandLine {
 public:
  explicit CommandLine(const std::string& description);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// T: std::string, a number, or a vector of these, which is given with commas. `names` are those of CLI11:
  /// "--grid",
  /// "-n,--columns", or "file" for what stands alone.
  template <class T>
  CommandLine& add(const std::string& names, T& value, const std::string& description);
  CommandLine& add_flag(const std::string& names, bool& value, const std::string& description);

  /// These three are about the option that was added last.
  CommandLine& required();
  CommandLine& positive();
  CommandLine& one_of(const std::vector<std::string>& values);

  /// Ends the program where help is asked for, or with exit code 2 and one message where the line makes no sense.
  /// Collective where MPI has begun, and MPI is ended then.
  void parse(int argc, char** argv);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace block_eigs::bench
