#pragma once

namespace block_eigs::cuda {

/// Whether what was compiled for the current GPU calls wait_for_earlier() in earnest: code for an older one does
/// not, and must not be launched early.
bool can_launch_early();

}  // namespace block_eigs::cuda
