#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "spmm/cuda/runtime/requirements.hpp"
#include "spmm/error.hpp"

namespace block_eigs {
namespace {

std::string complaint(const std::function<void()>& step) {
  try {
    step();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(GpuRequirements, OldGpuIsNamedWithWhatItHasAndWhatIsNeeded) {
  const std::string text = complaint([] { cuda::require_capability(3, "Tesla P100", {6, 0}); });
  for (const char* part : {"8.0", "6.0", "GPU 3", "Tesla P100", "device: host"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
  EXPECT_EQ(complaint([] { cuda::require_capability(0, "A100", {8, 0}); }), "");
  EXPECT_EQ(complaint([] { cuda::require_capability(0, "H200", {9, 0}); }), "");
  EXPECT_NE(complaint([] { cuda::require_capability(0, "Titan V", {7, 5}); }), "");
}

TEST(GpuRequirements, NoGpuIsSaidWithTheReason) {
  const std::string text = complaint([] { cuda::require_gpu(0, "no CUDA-capable device is detected"); });
  for (const char* part : {"8.0", "none", "no CUDA-capable device is detected", "device: auto"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
  EXPECT_EQ(complaint([] { cuda::require_gpu(1, ""); }), "");
}

}  // namespace
}  // namespace block_eigs
