#include "solver/space/replicas.hpp"

#include <algorithm>
#include <bit>

#include "solver/small/arithmetic.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

bool Replicas::possible(const Communicator& comm) {
  std::uint64_t mine = 0;
  comm.collectively([&] { mine = arithmetic_digest(); });
  const std::vector<std::int64_t> all = comm.all_gather(std::bit_cast<std::int64_t>(mine));
  return std::all_of(all.begin(), all.end(),
                     [&](std::int64_t digest) { return digest != 0 && digest == all.front(); });
}

void Replicas::add(std::span<const double> results) { digest_ = digest_of(results, digest_); }

void Replicas::append_to(std::vector<double>& parts) const {
  const auto bits = static_cast<double>((digest_ >> 32U) & 0xffffU);
  parts.push_back(bits);
  parts.push_back(bits * bits);
}

/// By Cauchy's inequality p (h1^2 + ... + hp^2) = (h1 + ... + hp)^2 where all are the same, and nowhere else. All
/// of these are integers, and exact up to 2^16 ranks.
void Replicas::check(const Communicator& comm, std::vector<double>& sums) const {
  const auto squares = static_cast<std::uint64_t>(sums.back());
  sums.pop_back();
  const auto sum = static_cast<std::uint64_t>(sums.back());
  sums.pop_back();
  if (static_cast<std::uint64_t>(comm.size()) * squares == sum * sum) return;
  if (!comm.is_root()) throw RemoteError(0, ExitCode::run_failed);
  throw Agreed<RunError>(RunError(
      "ranks have come to different solutions of the same small dense problem: their processors or their LAPACK "
      "are not the same, or one of them computes wrongly"));
}

}  // namespace block_eigs
