#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "spmm/parallel/communicator.hpp"

namespace block_eigs::fuzz {

/// This process alone. MPI is initialised before the first input.
const Communicator& self();

/// Puts an input into a file in memory (under /dev/shm, one a process, the same for all inputs); returns its path.
const std::string& as_file(const std::uint8_t* data, std::size_t size);

/// Runs a reader. It may succeed or throw an InputError of one line; everything else ends the process, which is
/// a finding: another exception, a message of no or several lines.
void check_reader(const std::function<void()>& read);

/// Opens the file as a matrix and reads all of it where it has no more than `most_rows` rows: what a file may say
/// without a byte for each row would be legal and only take memory. What comes out must be a matrix: sorted
/// columns within the bounds, finite values.
void read_matrix(const std::string& path);

/// The same for dense vectors, and one column alone.
void read_block(const std::string& path, const std::vector<std::string>& datasets = {});

}  // namespace block_eigs::fuzz
