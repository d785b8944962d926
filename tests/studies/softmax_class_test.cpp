// Tests the classes of a training step with softmax as a class, with figures computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attention_samples.hpp"

namespace tbench::studies {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(KernelClasses, HaveSoftmaxAsAClassOfTheStep) {
  const StudyReport report = report_of("kernel_classes", {trained_with_core()});
  EXPECT_EQ(header(report.sections.at(1)), "class|operations|total ms|% of GPU time");
  // 32 ms. The elementwise kernels and the reductions of softmax count as softmax alone.
  EXPECT_THAT(rows(report.sections[1]), ElementsAre("matrix products|192|22.50|70.3", "softmax backward|24|4.000|12.5",
                                                    "softmax forward|60|4.000|12.5", "elementwise|24|1.100|3.4",
                                                    "other|12|0.4000|1.3", "(all)|312|32.00|100.0"));
}

TEST(KernelClasses, OfAStepWithoutSoftmaxHaveOneTable) {
  Record record = trained();
  std::erase_if(record.trace->kernels, [](const TracedKernel& one) { return one.kernel_class.starts_with("softmax"); });
  const StudyReport report = report_of("kernel_classes", {record});
  EXPECT_EQ(report.sections.size(), 1U);
  EXPECT_THAT(report.notes, Not(Contains(HasSubstr("Softmax takes"))));
}

TEST(KernelClasses, CompareSoftmaxWithTheMatrixProducts) {
  EXPECT_THAT(report_of("kernel_classes", {trained_with_core()}).notes,
              Contains("Softmax takes 25.0 % of the GPU's time in the training step of small, 512 tokens, bf16: 12.5 "
                       "% in forward and 12.5 % in backward. That is less than the matrix products, which take 70.3 "
                       "%."));
  Record record = trained();
  record.trace->kernels[4].total = {7 * kMs};  // softmax's backward; products take 7.5 of 19 ms, softmax 7.8
  EXPECT_THAT(report_of("kernel_classes", {record}).notes,
              Contains(HasSubstr("41.1 % of the GPU's time in the training step of small, 512 tokens, bf16: 4.2 % in "
                                 "forward and 36.8 % in backward. That is more than the matrix products, which take "
                                 "39.5 %.")));
}

}  // namespace
}  // namespace tbench::studies
