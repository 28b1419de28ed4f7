#pragma once

#include <string>

namespace block_eigs {

/// The keys of the config, section by section, a line each; for --help.
std::string config_help();

/// What to write for an option of the command line that is a key of the config, such as "--device cuda"; empty
/// where none is. `argv` is that of the program.
std::string hint_for_option(int argc, const char* const* argv);

}  // namespace block_eigs
