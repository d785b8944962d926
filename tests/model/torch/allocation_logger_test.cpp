#include "model/torch/allocation_logger.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tbench/cuda/range.hpp"
#include "tbench/model/backward_ranges.hpp"

namespace tbench::model {
namespace {

const c10::Device kCpu{c10::kCPU};

at::Tensor floats(std::int64_t count) { return at::empty({count}, at::kFloat); }

TEST(AllocationLogger, HasEveryBlockWithItsRange) {
  AllocationLogger logger{kCpu, 1'000'000};
  std::optional<at::Tensor> kept;
  cuda::in_range("FORWARD", [&] {
    kept = floats(1'000);
    cuda::in_range("layer.3", [&] { const at::Tensor freed = floats(250); });
  });
  const std::size_t before = logger.events();
  const at::Tensor outside = floats(10);
  EXPECT_EQ(logger.events(), before + 1);
  const AllocationLog log = logger.take();
  EXPECT_EQ(log.allocated_before, 1'000'000);
  ASSERT_EQ(log.events.size(), 4U);
  const auto& [first, inner, freed, last] = std::tie(log.events[0], log.events[1], log.events[2], log.events[3]);
  EXPECT_EQ(first.bytes, 4'000);
  EXPECT_EQ(first.address, reinterpret_cast<std::uintptr_t>(kept->data_ptr()));
  EXPECT_EQ(log.ranges[first.range], "FORWARD");
  EXPECT_EQ(inner.bytes, 1'000);
  EXPECT_EQ(log.ranges[inner.range], "FORWARD/layer.3");
  EXPECT_EQ(freed.bytes, -1'000);
  EXPECT_EQ(freed.address, inner.address);
  EXPECT_EQ(log.ranges[last.range], "");
  // The allocator's own count changes accordingly.
  EXPECT_EQ(inner.allocated, first.allocated + 1'000);
  EXPECT_EQ(freed.allocated, first.allocated);
  EXPECT_EQ(last.allocated, first.allocated + 40);
}

TEST(AllocationLogger, HasTheOperatorThatAllocates) {
  AllocationLogger logger{kCpu, 0};
  const at::Tensor made = at::randn({16, 16});
  const at::Tensor cast = made.to(at::kBFloat16);
  const at::Tensor product = made.matmul(made);
  const AllocationLog log = logger.take();
  const auto operation_of = [&log](const at::Tensor& tensor) {
    const auto address = reinterpret_cast<std::uintptr_t>(tensor.data_ptr());
    const auto made_it =
        std::ranges::find_if(log.events, [&](const AllocationEvent& e) { return e.address == address && e.bytes > 0; });
    return made_it == log.events.end() ? "" : log.operations.at(made_it->operation);
  };
  EXPECT_EQ(operation_of(made), "aten::randn");
  EXPECT_EQ(operation_of(cast), "aten::_to_copy");
  EXPECT_EQ(operation_of(product), "aten::mm");
}

TEST(AllocationLogger, BackwardIsInTheRangesOfWhatItUndoes) {
  AllocationLogger logger{kCpu, 0};
  const at::Tensor weight = at::randn({32, 32}).requires_grad_(true);
  {
    const BackwardRanges credited;
    const at::Tensor loss = cuda::in_range(
        "FORWARD", [&] { return cuda::in_range("layer.0", [&] { return weight.matmul(weight).sum(); }); });
    cuda::in_range("BACKWARD", [&] { loss.backward(); });
  }
  const AllocationLog log = logger.take();
  const auto gradient = reinterpret_cast<std::uintptr_t>(weight.grad().data_ptr());
  std::vector<std::string> where;
  for (const AllocationEvent& event : log.events) {
    if (event.address == gradient && event.bytes > 0) where.push_back(log.ranges[event.range]);
  }
  EXPECT_EQ(where.back(), "BACKWARD/layer.0");
}

TEST(AllocationLogger, OtherDevicesAndLaterBlocksAreNone) {
  std::optional<AllocationLogger> of_gpu;
  of_gpu.emplace(c10::Device{c10::kCUDA, 0}, 0);
  { const at::Tensor on_cpu = floats(10); }
  EXPECT_EQ(of_gpu->events(), 0U);
  of_gpu.reset();
  AllocationLogger logger{kCpu, 0};
  static_cast<void>(logger.take());
  EXPECT_EQ(logger.events(), 0U);
}

TEST(AllocationLogger, RangesAfterItGoToWhoListenedBefore) {
  class Names final : public cuda::RangeListener {
   public:
    void enter(const char* name) override { entered.emplace_back(name); }
    void leave() override {}
    std::vector<std::string> entered;
  } names;
  cuda::set_range_listener(&names);
  {
    const AllocationLogger logger{kCpu, 0};
    const cuda::Range inside{"inside"};
  }
  { const cuda::Range after{"after"}; }
  cuda::set_range_listener(nullptr);
  EXPECT_THAT(names.entered, testing::ElementsAre("inside", "after"));
}

}  // namespace
}  // namespace tbench::model
