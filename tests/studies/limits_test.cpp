// Tests each rule with a step whose numbers are computed by hand.
#include "tbench/studies/limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"

namespace tbench::studies {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TracedKernel kernel(const std::string& kernel_class, double calls, double milliseconds) {
  return {.phase = "forward",
          .kernel_class = kernel_class,
          .name = kernel_class + "_kernel",
          .calls = calls,
          .total = {milliseconds * 1e-3},
          .min = {1e-6},
          .max = {1e-3},
          .standard_deviation = {}};
}

/// Returns a step of 10 ms, in which the GPU works for 9.8 ms. Products take 6 ms for 3e12 FLOP with a ceiling of 1e15
/// FLOP/s, elementwise kernels take 3 ms in 300 launches, and copies take 0.8 ms in 8. The device's own gaps take 0.2
/// ms.
Record device_bound() {
  Record record = support::timed_record(support::model_id("forward", "eager"), Seconds{0.010});
  record.timing->enqueue = {0.004};
  record.work = Work{.flop = {3e12}, .tokens = 2048, .bytes = 0, .ceiling = "gemm_bf16"};
  record.ceiling_per_second = 1e15;
  StepTrace& trace = record.trace.emplace();
  trace.steps = 9;
  trace.span = {0.010};
  trace.device = {0.0098};
  trace.device_gaps = {0.0002};
  trace.launches = 360;
  trace.kernels = {kernel("gemm", 50, 5), kernel("attention_fused", 10, 1), kernel("elementwise", 300, 3),
                   kernel("copy", 8, 0.8)};
  return record;
}

/// Returns the same work with a host that needs 25 ms for it.
Record host_bound() {
  Record record = device_bound();
  record.timing->median = {0.025};
  record.timing->enqueue = {0.0249};
  record.timing->host_bound = true;
  record.trace->launches = 1000;
  return record;
}

TEST(Limits, OfAGpuBoundStepAreItsKernelsByTheirTime) {
  const std::vector<Limit> limits = limits_of(device_bound());
  ASSERT_EQ(limits.size(), 3U);
  EXPECT_EQ(limits[0].what, "matrix products");
  EXPECT_EQ(limits[0].evidence, "61 % of the GPU's time, at 50 % of gemm_bf16");  // 6 of 9.8; 3 ms would do
  EXPECT_DOUBLE_EQ(limits[0].at_most.value(), 10.0 / 7);
  EXPECT_EQ(limits[0].remedy, "at that rate");
  EXPECT_EQ(limits[1].what, "elementwise");
  EXPECT_EQ(limits[1].evidence, "31 % of the GPU's time, 300 of 10.0 us");
  EXPECT_DOUBLE_EQ(limits[1].at_most.value(), 10.0 / 7);
  EXPECT_EQ(limits[2].what, "copy");
  EXPECT_DOUBLE_EQ(limits[2].at_most.value(), 10.0 / 9.2);
}

TEST(Limits, OfAHostBoundStepBeginWithTheHostAndPromiseNothingOfTheGpu) {
  const std::vector<Limit> limits = limits_of(host_bound());
  ASSERT_EQ(limits.size(), 4U);
  EXPECT_EQ(limits[0].what, "host");
  // The GPU idles for 1 - 9.8 / 25 of the step. The host needs 24.9 ms for 1,000 launches.
  EXPECT_EQ(limits[0].evidence, "the GPU idles 61 % of the step; 1000 launches, 24.9 us of the host each");
  EXPECT_EQ(limits[0].remedy, "as a CUDA graph");
  EXPECT_DOUBLE_EQ(limits[0].at_most.value(), 25 / 9.8);
  for (std::size_t i = 1; i < limits.size(); ++i) EXPECT_FALSE(limits[i].at_most.has_value()) << limits[i].what;
}

TEST(Limits, GapsOfTheGpusOwnAreOfLaunches) {
  Record record = device_bound();
  record.trace->device_gaps = {0.0006};
  const std::vector<Limit> limits = limits_of(record);
  EXPECT_EQ(limits[0].what, "launches");
  // There are 368 kernels in 9.8 ms.
  EXPECT_EQ(limits[0].evidence, "the GPU waits 6 % of the step between queued operations; 368 kernels of 26.6 us");
  EXPECT_DOUBLE_EQ(limits[0].at_most.value(), 10 / 9.4);
}

TEST(Limits, ProductsFasterThanTheirCeilingGainNothing) {
  Record record = device_bound();
  record.ceiling_per_second = 4e14;  // 7.5 ms
  EXPECT_EQ(limits_of(record)[0].evidence, "61 % of the GPU's time, at 125 % of gemm_bf16");
  EXPECT_FALSE(limits_of(record)[0].at_most.has_value());
  record.ceiling_per_second.reset();
  EXPECT_EQ(limits_of(record)[0].evidence, "61 % of the GPU's time");
}

TEST(Limits, NeedATraceAndATime) {
  Record record = device_bound();
  record.trace.reset();
  EXPECT_THAT(limits_of(record), IsEmpty());
  record = support::failed_record(record.id, Status::kOom, "out of memory");
  EXPECT_THAT(limits_of(record), IsEmpty());
  EXPECT_THAT([&] { require_trace(std::vector{record}, {}); },
              ::testing::ThrowsMessage<UsageError>(HasSubstr("measure with --tb_trace=on")));
  EXPECT_NO_THROW(require_trace(std::vector{record, device_bound()}, {}));
}

TEST(Limits, TheTableNamesACaseOnce) {
  const render::Table table = limits_table(std::vector{device_bound(), host_bound()});
  const std::string csv = table.csv();
  EXPECT_THAT(csv, HasSubstr("impl:eager,10,matrix products,"));
  EXPECT_THAT(csv, HasSubstr("\n,,elementwise,\"31 % of the GPU's time, 300 of 10.0 us\",1.43x without it\n"));
  EXPECT_THAT(csv, HasSubstr("impl:eager,25,host,"));
}

}  // namespace
}  // namespace tbench::studies
