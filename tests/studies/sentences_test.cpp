// Tests the sentences of the write-up's studies: each is true, changes with its numbers, and is silent without them.
#include "studies/engine/sentences.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "studies/engine/case_parameters.hpp"
#include "study_notes.hpp"
#include "support/sample_results.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Record model(const std::string& size, const std::string& pass, const std::string& precision) {
  return support::timed_record(
      CaseId::parse("Model/size:" + size + "/ctx:512/batch:4/pass:" + pass + "/precision:" + precision + "/impl:eager"),
      Seconds{10 * kMs});
}

/// Adds kernels: matrix products and others, in ms of forward.
Record traced(Record record, double gemm_ms, double other_ms) {
  record.trace = StepTrace{};
  record.trace->steps = 3;
  record.trace->device = {(gemm_ms + other_ms) * kMs};
  for (const auto& [kernel_class, ms] : {std::pair{"gemm", gemm_ms}, {"elementwise", other_ms}}) {
    record.trace->kernels.push_back({.phase = "forward",
                                     .kernel_class = kernel_class,
                                     .name = kernel_class,
                                     .calls = 1,
                                     .total = {ms * kMs},
                                     .min = {ms * kMs},
                                     .max = {ms * kMs},
                                     .standard_deviation = {}});
  }
  return record;
}

TEST(NamedRange, NamesBothEnds) {
  EXPECT_EQ((NamedRange{.count = 2, .low = 1.5, .high = 2, .of_low = "small", .of_high = "xl"}.text()),
            "1.500 (small) to 2.000 (xl)");
  EXPECT_EQ((NamedRange{.count = 1, .low = 1.5, .high = 1.5, .of_low = "small", .of_high = "small"}.text("%")),
            "1.500 % (small)");
}

TEST(Growth, IsBetweenTheTwoLargest) {
  const std::map<std::string, double> ms{{"128", 1}, {"256", 3}, {"512", 12}};
  std::vector<CaseId> cases;
  for (const char* const ctx : {"512", "128", "256"})
    cases.push_back(CaseId::parse("Model/size:small/ctx:" + std::string{ctx}));
  const StudyMeasurements all{.cases = cases, .records_of = {}, .sizes = {}};
  const auto growth = growth_over(all, "ctx", {{"size", "small"}},
                                  [&](const CaseId& id) { return std::optional{ms.at(id.at("ctx"))}; });
  ASSERT_TRUE(growth);
  EXPECT_EQ(growth->from, "256");
  EXPECT_EQ(growth->to, "512");
  EXPECT_DOUBLE_EQ(growth->exponent, 2);
  EXPECT_FALSE(growth_over(all, "ctx", {{"size", "xl"}}, [](const CaseId&) { return std::optional{1.0}; }));
}

TEST(Sentences, SayWhatAPrecisionGains) {
  const std::vector<Record> both{traced(model("small", "forward", "fp32"), 8, 2),
                                 traced(model("small", "forward", "bf16"), 3, 1)};
  EXPECT_THAT(notes_of("precision", both),
              Contains("bf16 against fp32 by the GPU's own time, forward with 512 tokens: a factor of 2.500 (small)."));
  std::vector<Record> slower{traced(model("small", "forward", "fp32"), 3, 1),
                             traced(model("small", "forward", "bf16"), 6, 2)};
  EXPECT_THAT(notes_of("precision", slower), Contains(HasSubstr("a factor of 0.5000 (small).")));
  EXPECT_THAT(notes_of("precision", {both[0]}), Not(Contains(HasSubstr("a factor of"))));
}

TEST(Sentences, SayHowProductsFallInTraining) {
  const std::vector<Record> records{
      traced(model("small", "forward", "fp32"), 8, 2), traced(model("xl", "forward", "fp32"), 9, 1),
      traced(model("small", "train_step", "fp32"), 6, 4), traced(model("xl", "train_step", "fp32"), 9, 0.5)};
  const std::vector<std::string> notes = notes_of("gemm_share", records);
  EXPECT_THAT(notes, Contains("Matrix products have a smaller share of the kernels' time in the training step than in "
                              "inference in 1 of 2 comparisons."));
  EXPECT_THAT(notes, Contains("In inference with 512 tokens in fp32, their share is 80.00 % (small) to 90.00 % (xl)."));
  EXPECT_THAT(notes_of("gemm_share", {records[0]}), Not(Contains(HasSubstr("in the training step"))));
  EXPECT_THAT(notes_of("gemm_share", {records[0]}), Not(Contains(HasSubstr(", their share is"))));
}

/// Returns a forward pass of `small` in fp32 whose kernels take these times.
Record with_context(const std::string& ctx, double gpu_ms) {
  Record record = traced(model("small", "forward", "fp32"), gpu_ms, 0);
  record.id = with_value(record.id, "ctx", ctx);
  return record;
}

TEST(Sentences, SayHowForwardGrowsWithTheContext) {
  const auto sentence = HasSubstr("the GPU's own time of forward");
  EXPECT_THAT(notes_of("scaling", {with_context("256", 1), with_context("512", 4), with_context("1024", 8)}),
              Contains("From 512 to 1024 tokens, the GPU's own time of forward in fp32 grows with the context to the "
                       "power of 1.000 (small). That is less than 2, the power of attention's scores: all other "
                       "operations grow at most linearly."));
  EXPECT_THAT(notes_of("scaling", {with_context("512", 2), with_context("1024", 8)}),
              Contains(HasSubstr("the power of 2.000 (small). That is at least 2")));
  EXPECT_THAT(notes_of("scaling", {with_context("512", 4)}), Not(Contains(sentence)));
  EXPECT_THAT(notes_of("scaling", {with_context("512", 4), model("small", "forward", "fp32")}), Not(Contains(sentence)))
      << "without a trace, the GPU's own time is unknown";
}

Record with_peak(Record record, std::int64_t bytes) {
  record.memory = MemoryUse{};
  record.memory->allocated_peak = bytes;
  return record;
}

TEST(Sentences, SayWhatAPrecisionNeedsInMemory) {
  const std::vector<Record> records{
      with_peak(model("medium", "forward", "fp32"), 1000), with_peak(model("medium", "forward", "bf16"), 1360),
      with_peak(model("medium", "train_step", "fp32"), 2000), with_peak(model("medium", "train_step", "bf16"), 1600)};
  EXPECT_THAT(notes_of("memory", records),
              Contains(HasSubstr("in bf16, against fp32: forward 36 % more, train_step 20 % less. Autocast keeps")));
  EXPECT_THAT(notes_of("memory", {records[0], records[3]}), Not(Contains(HasSubstr("against fp32"))));
}

/// Returns a training step with products and softmax in forward and in backward, in ms.
Record trained(const std::string& size, double forward_gemm, double backward_gemm) {
  Record record = traced(model(size, "train_step", "fp32"), forward_gemm, 2);
  for (const auto& [kernel_class, ms] : {std::pair{"gemm", backward_gemm}, {"softmax_backward", 4.0}}) {
    TracedKernel kernel = record.trace->kernels.front();
    kernel.phase = "backward";
    kernel.kernel_class = kernel_class;
    kernel.name = std::string{kernel_class} + "_backward";
    kernel.total = {ms * kMs};
    record.trace->kernels.push_back(kernel);
  }
  return record;
}

TEST(Sentences, CountThePhasesWhoseLongestKernelIsAProduct) {
  EXPECT_THAT(
      notes_of("top_kernels", {trained("small", 6, 3), trained("xl", 8, 12)}),
      testing::IsSupersetOf({"The longest kernel is a matrix product in 2 of 2 traced forward passes of training, "
                             "and in 1 of 2 backward passes.",
                             "With 512 tokens in fp32, products take 75.00 % (small) to 80.00 % (xl) of forward "
                             "and 42.86 % (small) to 75.00 % (xl) of backward."}));
  EXPECT_THAT(notes_of("top_kernels", {trained("small", 1, 3), trained("xl", 8, 12)}),
              Contains(HasSubstr("in 1 of 2 traced forward passes")));
  EXPECT_THAT(notes_of("top_kernels", {trained("small", 6, 3)}), Not(Contains(HasSubstr("The longest kernel is"))));
}

/// Returns a forward pass of 10 ms whose range takes `host_ms` on the host while tracing.
Record with_range(double host_ms) {
  Record record = traced(model("small", "forward", "fp32"), 7, 1);
  TracedRange forward{};
  forward.path = "FORWARD";
  forward.calls = 1;
  forward.host = {host_ms * kMs};
  record.trace->ranges = {forward};
  return record;
}

TEST(Sentences, SayWhatTracingDoesToForward) {
  EXPECT_THAT(notes_of("profiler_overhead", {with_range(10.2)}),
              Contains("Forward of small with 512 tokens in fp32: 10.00 ms by events without tracing, 10.20 ms by the "
                       "host's time in its range while tracing (+2.0 %)."));
  EXPECT_THAT(notes_of("profiler_overhead", {with_range(15)}),
              Contains(HasSubstr("(+50 %: tracing slows each launch by the host; the GPU's own time is 8.000 ms).")));
  EXPECT_THAT(
      notes_of("profiler_overhead", {with_range(8)}),
      Contains(HasSubstr("(-20 %: the host leaves its range when it has enqueued the last kernel, before the GPU "
                         "has finished; the GPU's own time is 8.000 ms).")));
  Record unknown = with_range(15);
  unknown.trace->ranges.clear();
  EXPECT_THAT(notes_of("profiler_overhead", {unknown}), Not(Contains(HasSubstr("Forward of small"))));
}

/// Returns a forward pass of medium in bf16 that takes `gpu_ms` of the GPU's time, half of it in attention.
Record of_impl(const std::string& impl, double gpu_ms, double kernels, std::int64_t bytes) {
  Record record = traced(model("medium", "forward", "bf16"), gpu_ms / 2, gpu_ms / 2);
  record.id = CaseId::parse("Model/size:medium/ctx:512/batch:4/pass:forward/precision:bf16/impl:" + impl);
  record.trace->kernels.front().calls = kernels - 1;
  TracedRange attention{};
  attention.path =
      impl == "eager" ? "FORWARD/layer.*/attention/attention.softmax" : "FORWARD/layer.*/attention/attention.core";
  attention.gpu_sum = {gpu_ms / 2 * kMs};
  record.trace->ranges = {attention};
  record.memory = MemoryUse{};
  record.memory->allocated_peak = bytes;
  return record;
}

TEST(Sentences, SayWhatFusionGains) {
  EXPECT_THAT(notes_of("fusion", {of_impl("eager", 8, 1600, 2000), of_impl("sdpa", 3.2, 500, 1500)}),
              Contains("LibTorch's fused attention, norm, loss and AdamW (sdpa) instead of separate operations, "
                       "forward with 512 tokens in bf16: a factor of 2.500 (medium) "
                       "by the GPU's own time; medium has 500 kernels instead of 1,600, 1.600 ms for forward's "
                       "attention without projections instead of 4.000, 25 % less memory."));
  Record more = of_impl("fused", 6.4, 500, 3000);
  more.trace->ranges.clear();
  EXPECT_THAT(notes_of("fusion", {of_impl("eager", 8, 1600, 2000), more}),
              Contains("A step of our kernels (fused) instead of separate operations, forward with 512 tokens in bf16: "
                       "a factor of 1.250 "
                       "(medium) by the GPU's own time; medium has 500 kernels instead of 1,600, 50 % more memory."));
  EXPECT_THAT(notes_of("fusion", {of_impl("sdpa", 3.2, 500, 1500)}), Not(Contains(HasSubstr("instead of separate"))));
}

TEST(Sentences, CompareSoftmaxWithProducts) {
  Record record = traced(model("small", "forward", "fp32"), 1, 1);
  record.trace->attention = {
      {.phase = "forward", .softmax = {2 * kMs}, .scores = {0.6 * kMs}, .context = {0.4 * kMs}, .other = {}}};
  // 151 million scores: 0.755 GFLOP of softmax, 38.65 GFLOP of products, and 1.208 GB read and written.
  EXPECT_THAT(notes_of("softmax_vs_matmul", {record}),
              Contains("Softmax of small, 512 tokens, fp32, forward: 2.000 ms; attention's matrix products: 1.000 ms. "
                       "Softmax takes 2.000 times the time of the products for 2.0 % of their FLOP: the products reach "
                       "38.65 TFLOP/s, and one read and one write of the scores in softmax's time are 0.6040 TB/s."));
  Record products = support::timed_record(CaseId::parse("Ceiling/what:gemm_fp32/regime:sustained"), Seconds{1 * kMs});
  products.work = Work{.flop = 50'000'000'000};
  Record copy = support::timed_record(CaseId::parse("Ceiling/what:copy/regime:burst"), Seconds{1 * kMs});
  copy.work = Work{.bytes = 3'020'000'000};
  EXPECT_THAT(
      notes_of("softmax_vs_matmul", {record, products}),
      Contains(testing::EndsWith(
          "Of this GPU's ceilings, the products' rate is 77 % of the 50.00 TFLOP/s of a large product in fp32.")));
  EXPECT_THAT(notes_of("softmax_vs_matmul", {record, products, copy}),
              Contains(testing::EndsWith("in fp32, and softmax's is 20 % of the 3.020 TB/s of a copy.")));
  record.trace->attention.clear();
  EXPECT_THAT(notes_of("softmax_vs_matmul", {record}), Not(Contains(HasSubstr("Softmax of"))));
}

}  // namespace
}  // namespace tbench::studies
