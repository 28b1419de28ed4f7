#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "spmm/device/neighbourhood.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// The ranks of a communicator, for what needs sums and largest numbers of theirs but no ghosts' values.
class AllRanks : public Neighbourhood {
 public:
  explicit AllRanks(Communicator comm) : comm_(std::move(comm)) {}

  bool has_others() const override { return comm_.size() > 1; }
  void raise_to_largest(std::span<double> values) override {
    for (double& value : values) value = comm_.max(value);
  }
  void add_up(std::span<std::int64_t> values) override { comm_.sum(values); }
  bool any(bool value) override { return comm_.any(value); }
  GlobalIndex sum_before(LocalIndex count) override;
  void collectively(const std::function<void()>& step) override { comm_.collectively(step); }

 protected:
  const Communicator& comm() const { return comm_; }

 private:
  Communicator comm_;
};

}  // namespace block_eigs
