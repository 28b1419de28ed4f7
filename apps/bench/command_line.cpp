#include "apps/bench/command_line.hpp"

#include <mpi.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <type_traits>

#include "spmm/error.hpp"

// The only file of the benches that includes CLI11, which takes longer to compile than a bench.
namespace block_eigs::bench {

struct CommandLine::Parser {
  explicit Parser(const std::string& description) : app(description) {}

  CLI::App app;
  CLI::Option* last = nullptr;
};

namespace {

template <class T>
constexpr bool is_list = false;
template <class T>
constexpr bool is_list<std::vector<T>> = true;

/// Whether MPI has begun and not ended.
bool is_running() {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  return begun != 0 && ended == 0;
}

}  // namespace

CommandLine::CommandLine(const std::string& description) : parser_(std::make_unique<Parser>(description)) {}

CommandLine::~CommandLine() = default;

template <class T>
CommandLine& CommandLine::add(const std::string& names, T& value, const std::string& description) {
  parser_->last = parser_->app.add_option(names, value, description);
  if constexpr (is_list<T>) {
    parser_->last->delimiter(',');
    if (value.empty()) return *this;  // whose default the description tells
  }
  parser_->last->capture_default_str();
  return *this;
}

CommandLine& CommandLine::add_flag(const std::string& names, bool& value, const std::string& description) {
  parser_->last = parser_->app.add_flag(names, value, description);
  return *this;
}

CommandLine& CommandLine::required() {
  parser_->last->required();
  return *this;
}

CommandLine& CommandLine::positive() {
  parser_->last->check(CLI::PositiveNumber);
  return *this;
}

CommandLine& CommandLine::one_of(const std::vector<std::string>& values) {
  parser_->last->check(CLI::IsMember(values));
  return *this;
}

void CommandLine::parse(int argc, char** argv) {
  try {
    parser_->app.parse(argc, argv);
  } catch (const CLI::ParseError& what) {
    std::ostringstream output, errors;
    const bool help = parser_->app.exit(what, output, errors) == 0;
    int rank = 0;
    if (is_running()) {
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      MPI_Finalize();
    }
    if (rank == 0) {
      std::cout << output.str();
      std::cerr << errors.str();
    }
    std::exit(help ? 0 : static_cast<int>(ExitCode::invalid_input));
  }
}

template CommandLine& CommandLine::add(const std::string&, std::string&, const std::string&);
template CommandLine& CommandLine::add(const std::string&, int&, const std::string&);
template CommandLine& CommandLine::add(const std::string&, std::int64_t&, const std::string&);
template CommandLine& CommandLine::add(const std::string&, double&, const std::string&);
template CommandLine& CommandLine::add(const std::string&, std::vector<std::string>&, const std::string&);
template CommandLine& CommandLine::add(const std::string&, std::vector<int>&, const std::string&);
template CommandLine& CommandLine::add(const std::string&, std::vector<std::size_t>&, const std::string&);

}  // namespace block_eigs::bench
