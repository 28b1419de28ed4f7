#pragma once

namespace block_eigs {

/// Bytes of memory that this process has, and the most that it has had, by the kernel's count of pages; 0 where
/// the kernel does not tell.
double resident_bytes();
double most_resident_bytes();

}  // namespace block_eigs
