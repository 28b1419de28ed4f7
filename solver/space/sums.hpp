#pragma once

#include <cmath>
#include <span>
#include <vector>

namespace block_eigs {

/// Sums over all ranks that travel together: this rank's parts are added as they are formed, and BlockSpace::sum
/// makes sums of all of them in one message. By reference: what was added stays where it is until then.
class Sums {
 public:
  void add(std::span<double> parts) { parts_.push_back({parts, false}); }
  /// Parts of squared norms, which become norms.
  void add_squares(std::span<double> parts) { parts_.push_back({parts, true}); }

  /// All parts, one behind the other.
  std::vector<double> packed() const {
    std::vector<double> all;
    for (const Part& part : parts_) all.insert(all.end(), part.values.begin(), part.values.end());
    return all;
  }
  /// The sums of packed() to where the parts were. Nothing is left to be summed.
  void unpack(std::span<const double> sums) {
    for (const Part& part : parts_) {
      for (double& value : part.values) {
        value = part.squares ? std::sqrt(sums.front()) : sums.front();
        sums = sums.subspan(1);
      }
    }
    parts_.clear();
  }

 private:
  struct Part {
    std::span<double> values;
    bool squares = false;
  };
  std::vector<Part> parts_;
};

}  // namespace block_eigs
