#pragma once

#include <map>
#include <string>

#include "apps/config/config.hpp"

namespace block_eigs {

/// What must be alike where a run goes on from a checkpoint, as text by name.
using Identity = std::map<std::string, std::string>;

/// Every key of the config, defaults included, that `program` listens to and that a state depends on; all but
/// those that say where matrices and vectors come from (what they hold counts: see RunCheckpoint), how far
/// iterations may go, what becomes of the result, and on what machine it is computed. docs/config.md lists these.
Identity identity(const RunConfig& config, const std::string& program);

/// One line a name.
std::string text_of(const Identity& identity);
Identity identity_from(const std::string& text);

/// The first thing that differs, in words that go on a sentence; empty where nothing does.
std::string difference(const Identity& before, const Identity& now);

}  // namespace block_eigs
