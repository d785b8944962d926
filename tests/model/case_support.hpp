// Supports the tests of cases: launches that count phases, a check that a case is correct, and a fixture that needs a
// GPU.
#pragma once

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tbench/core/case.hpp"
#include "tbench/model/device.hpp"
#include "tbench/model/model_case.hpp"
#include "tests/support/long_tests.hpp"

namespace tbench::model {

class CountedPhases final : public PhaseMarker {
 public:
  void mark() override { ++count_; }
  [[nodiscard]] int count() const { return count_; }

 private:
  int count_{};
};

/// Launches one step.
/// @return  the number of phases that the step marked
inline int launch(Case& subject) {
  CountedPhases phases;
  subject.launch(phases);
  return phases.count();
}

/// Builds, verifies and launches the case once. The test fails if this machine cannot run it or its result is wrong.
inline std::unique_ptr<Case> verified(std::unique_ptr<Case> subject) {
  EXPECT_EQ(subject->unsupported_reason(), std::nullopt);
  subject->build();
  const Verification verdict = subject->verify();
  EXPECT_TRUE(verdict.passed) << verdict.message;
  EXPECT_EQ(launch(*subject), 1);
  return subject;
}

/// Limits a CPU's operations to one thread: small operations are slower on several threads, and much slower on a busy
/// machine.
class OneThread {
 public:
  OneThread() : before_{at::get_num_threads()} { at::set_num_threads(1); }
  ~OneThread() { at::set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

/// Returns the number of correct results that a test of false rejections verifies. One rejection in a thousand is
/// allowed.
inline std::uint64_t false_rejection_seeds() { return support::are_tests_long() ? 1000 : 200; }

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device";
  }
};

/// Returns a step of a small model on the CPU.
inline ModelConfig tiny_step(const std::string& impl, Pass pass, Precision precision) {
  return {.size = {.name = "tiny", .d_model = 64, .d_ff = 256, .num_layers = 2, .num_heads = 4, .vocab_size = 500},
          .context = 32,
          .batch = 2,
          .pass = pass,
          .precision = precision,
          .impl = impl,
          .device = DeviceKind::kCpu,
          .seed = 1};
}

inline ModelConfig gpu_step(const std::string& impl, Pass pass, Precision precision) {
  ModelConfig config = tiny_step(impl, pass, precision);
  config.context = 128;
  config.device = DeviceKind::kCuda;
  config.size.vocab_size = kVocabSize;
  return config;
}

}  // namespace tbench::model
