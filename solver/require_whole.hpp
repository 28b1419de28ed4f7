#pragma once

#include <string>

namespace block_eigs {

/// Throws InputError on all ranks unless `whole`: what a saved state has of that name is not what this program
/// writes. By numbers that all ranks have alike.
void require_whole(bool whole, const std::string& name);

}  // namespace block_eigs
