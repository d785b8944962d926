#include "tbench/model/ceiling_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tbench/core/error.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

using testing::HasSubstr;

constexpr CeilingSizes kSmall{
    .stream_bytes = 3 << 15, .transfer_bytes = 4096, .product_m = 48, .product_nk = 64, .dispatches = 10};

std::unique_ptr<Case> on_cpu(const std::string& what) {
  return make_ceiling_case({.what = what, .device = DeviceKind::kCpu, .seed = 1, .sizes = kSmall});
}

class CeilingOnCpu : public testing::TestWithParam<const char*> {};

TEST_P(CeilingOnCpu, IsRightBeforeAndAfterItRuns) {
  const auto operation = on_cpu(GetParam());
  ASSERT_EQ(operation->unsupported_reason(), std::nullopt);
  operation->build();
  for (int i = 0; i < 2; ++i) {
    const Verification verdict = operation->verify();
    EXPECT_TRUE(verdict.passed) << verdict.message;
    EXPECT_LE(verdict.worst_error, 1.0);
    EXPECT_NE(verdict.reference, "");
    launch(*operation);
  }
}

INSTANTIATE_TEST_SUITE_P(All, CeilingOnCpu,
                         testing::Values("copy", "read", "write", "gemm_fp32", "gemm_bf16", "dispatch"),
                         [](const auto& one) { return std::string{one.param}; });

TEST(Ceiling, CountsWhatIsMovedAndMultiplied) {
  const std::int64_t buffer = 3 << 15;
  EXPECT_EQ(on_cpu("copy")->work().bytes, 2 * buffer);  // read and written
  EXPECT_EQ(on_cpu("read")->work().bytes, buffer);
  EXPECT_EQ(on_cpu("write")->work().bytes, buffer);
  EXPECT_EQ(on_cpu("gemm_bf16")->work().flop.value, 393'216.0);  // 2 * 48 * 64 * 64
  EXPECT_EQ(on_cpu("gemm_fp32")->work().flop.value, 98'304.0);   // n and k are half as large
  EXPECT_EQ(on_cpu("gemm_fp32")->work().ceiling, "");
  EXPECT_EQ(on_cpu("gemm_fp32")->work().bytes, 0);
  EXPECT_EQ(on_cpu("h2d_pinned")->work().bytes, 4096);  // each byte crosses the bus once
  for (const char* what : {"dispatch", "launch", "event"}) EXPECT_EQ(on_cpu(what)->work(), Work{}) << what;
}

TEST(Ceiling, DispatchCountsTheHostsTimeOfOneOperation) {
  const auto operation = on_cpu("dispatch");
  operation->build();
  EXPECT_TRUE(operation->verify().passed);
  EXPECT_FALSE(operation->counters().contains("dispatch_us")) << "verifying is not timed";
  for (int i = 0; i < 5; ++i) launch(*operation);
  const auto counters = operation->counters();
  EXPECT_EQ(counters.at("dispatches_per_step"), 10);
  EXPECT_GT(counters.at("dispatch_us"), 0.01);  // allocating and adding 1,024 numbers takes longer than this
  EXPECT_LT(counters.at("dispatch_us"), 1e5);
}

TEST(Ceiling, WhatACpuLacksSaysSo) {
  for (const char* what : {"l2_read", "launch", "event", "h2d_pinned", "h2d_pageable", "d2h_pinned", "d2h_pageable"}) {
    EXPECT_THAT(on_cpu(what)->unsupported_reason().value_or(""), HasSubstr("a CPU has none")) << what;
  }
  EXPECT_THAT(on_cpu("gemm_fp8_e4m3")->unsupported_reason().value_or(""), HasSubstr("GPUs only"));
  EXPECT_THAT(on_cpu("gemm_tf32")->unsupported_reason().value_or(""), HasSubstr("TF32"));
}

TEST(Ceiling, AnUnknownOneIsRefused) {
  try {
    static_cast<void>(on_cpu("gemm_int4"));
    FAIL() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("what:gemm_int4: no such ceiling; expected one of copy, read"));
  }
}

TEST(Ceiling, DefaultsFitTheKernels) {
  const CeilingSizes sizes = default_ceiling_sizes(DeviceKind::kCpu);
  EXPECT_EQ(sizes.stream_bytes % (1 << 15), 0);
  EXPECT_GE(sizes.stream_bytes, std::int64_t{64} << 20);
}

}  // namespace
}  // namespace tbench::model
