#pragma once

#include <cstdint>

namespace block_eigs {

/// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a bijection of 64-bit words that scatters its
/// input. Random numbers by counter are made of it: pure functions of what they are for, the same on every rank.
constexpr std::uint64_t scatter_bits(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
  return word ^ (word >> 31);
}

/// 2^64 over the golden ratio: multiples of it, as SplitMix64 goes through them, are what counters are scattered
/// from.
constexpr std::uint64_t golden_step = 0x9e3779b97f4a7c15ULL;

}  // namespace block_eigs
