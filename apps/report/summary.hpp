#pragma once

#include <string>

#include "io/result/result_file.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

/// What scripts want to know of a run, as one line of JSON; docs/config.md lists the keys. `file` is where the
/// result is, empty for nowhere.
std::string summary(const RunRecord& run, const PairsRecord& pairs, const std::string& file, ExitCode code);
std::string summary(const RunRecord& run, const SolutionsRecord& solutions, const std::string& file,
                    ExitCode code);
/// Of a run that ended with an error.
std::string summary(const std::string& program, const std::string& error, ExitCode code);

}  // namespace block_eigs
