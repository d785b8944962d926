// Tests how a failed allocation on a GPU is translated, whichever error reaches the caller.
#include "model/torch/torch_case.hpp"

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <stdexcept>

#include "tbench/core/error.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kTooMuch = std::int64_t{1} << 42;

void allocate_too_much() { at::empty({kTooMuch}, at::TensorOptions{}.dtype(at::kByte).device(at::kCUDA)); }

/// Fails as a compiled package does.
void allocate_too_much_and_say_nothing() {
  try {
    allocate_too_much();
  } catch (const c10::Error&) {
    throw std::runtime_error{"API call failed"};
  }
}

/// Returns the error to which running out of memory in `action` is translated. Fails if `action` does not run out.
OutOfMemory told(void (*action)()) {
  try {
    with_out_of_memory_translated(action);
  } catch (const OutOfMemory& error) {
    return error;
  }
  ADD_FAILURE() << "4 TiB were allocated";
  return {"", std::nullopt};
}

class OutOfMemoryGpu : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped()) observe_cuda_out_of_memory();
  }
};

TEST_F(OutOfMemoryGpu, IsToldWithItsBytes) { EXPECT_EQ(told(&allocate_too_much).requested_bytes(), kTooMuch); }

TEST_F(OutOfMemoryGpu, IsToldWhereAnotherErrorCameOfIt) {
  const OutOfMemory error = told(&allocate_too_much_and_say_nothing);
  EXPECT_EQ(error.requested_bytes(), kTooMuch);
  EXPECT_THAT(error.what(), HasSubstr("API call failed"));
}

TEST_F(OutOfMemoryGpu, IsNotToldOfAnAllocationThatFailedBefore) {
  EXPECT_THROW(allocate_too_much(), c10::OutOfMemoryError);
  const auto fail = [] { throw std::runtime_error{"something else"}; };
  try {
    with_out_of_memory_translated(fail);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "something else");
  }
}

}  // namespace
}  // namespace tbench::model
