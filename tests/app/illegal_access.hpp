#pragma once

namespace block_eigs::test {

/// A kernel on the calling thread's GPU that writes where nothing is: the GPU refuses everything from then on, and
/// whoever calls it next is told. Without a CUDA backend nothing happens.
void access_illegal_address();

}  // namespace block_eigs::test
