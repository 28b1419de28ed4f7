#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/hdf5/hdf5_file.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// Checksums of the columns of tables of numbers, by which a result is verified when it is read again. That of a
/// column x is the sum over its rows i, counted from 0, of mix(bits(x_i) + (i + 1) g) modulo 2^64: bits(x) is the
/// number as it lies in the file (64 bits, or 32 with zeros before them), g = 0x9e3779b97f4a7c15, and mix the
/// finaliser of SplitMix64 (Steele, Lea, Flood, Fast splittable pseudorandom number generators, OOPSLA 2014),
/// which is one-to-one: a single number that is changed always shows, several but for one chance in 2^64. Sums of
/// parts add up, so that every rank reads its own rows once and any columns can be verified alone.
///
/// "/eigenvectors" of shape [n][m] has its m checksums in "/checksums/eigenvectors", as 64-bit integers.
inline constexpr const char* checksums_group = "/checksums";

/// Adds the part of rows first .. of a row-major table with as many columns as there are `sums`. Not collective.
void add_checksums(std::span<const double> values, std::int64_t first, std::span<std::uint64_t> sums);
void add_checksums(std::span<const float> values, std::int64_t first, std::span<std::uint64_t> sums);
void add_checksums(std::span<const std::int64_t> values, std::int64_t first, std::span<std::uint64_t> sums);
/// Of numbers that lie in the file as float.
void add_checksums_as_float(std::span<const double> values, std::int64_t first, std::span<std::uint64_t> sums);

/// Sums over all ranks modulo 2^64, in place. Collective.
void add_over_ranks(const Communicator& comm, std::span<std::uint64_t> sums);

/// The checksums that the file has of a dataset with that many columns; empty where it has none. Throws InputError
/// where they are of another number. Not collective.
std::vector<std::uint64_t> stored_checksums(const Hdf5File& file, const std::string& object, std::int64_t columns);

}  // namespace block_eigs
