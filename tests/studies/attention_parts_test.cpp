// Tests the tables and the sentences of attention's parts, with figures computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attention_samples.hpp"
#include "studies/kernels/attention_kernels.hpp"

namespace tbench::studies {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string step_of(const std::string& kernel_class, const std::string& name) {
  return softmax_step(kernel("forward", kernel_class, name, 1, 1));
}

TEST(SoftmaxStep, IsFoundByTheWordsOfTheName) {
  EXPECT_EQ(step_of("reduction", "reduce_kernel<512, 1, func_wrapper_t<float, MaxNanFunctor<float> > >"), "maximum");
  EXPECT_EQ(step_of("elementwise", "elementwise_kernel<CUDAFunctor_add<float> >"), "subtraction");
  EXPECT_EQ(step_of("elementwise", kExpKernel), "exponential");
  EXPECT_EQ(step_of("reduction", "reduce_kernel<sum_functor<float, float, float> >"), "sum");
  EXPECT_EQ(step_of("elementwise", "elementwise_kernel<BinaryFunctor<float, DivFunctor<float> > >"), "division");
  EXPECT_EQ(step_of("cast", "direct_copy_kernel_cuda"), "cast");
  EXPECT_EQ(step_of("elementwise", "where_kernel_impl"), "other");
}

TEST(SoftmaxStep, OfAWordThatOnlyBeginsLikeAStepIsNone) {
  EXPECT_EQ(step_of("elementwise", "expand_kernel"), "other");
  EXPECT_EQ(step_of("elementwise", "maxpool_summary_kernel"), "other");
}

TEST(SoftmaxStep, OfAKernelWithSeveralStepsIsFused) {
  EXPECT_EQ(step_of("elementwise", "triton_poi_fused_exp_sub_0"), "fused");
  EXPECT_EQ(step_of("softmax_forward", "softmax_warp_forward<float>"), "fused");
}

TEST(AttentionParts, AreFiveOnTheBasisOfTheCoreAndOfForward) {
  const StudyReport report = report_of("attention_parts", {with_core("forward")});
  EXPECT_EQ(header(report.sections.at(0)), "part|ms|% of core|% of forward");
  EXPECT_THAT(
      rows(report.sections[0]),
      ElementsAre("QK^T|1.000|12.5|6.2", "softmax without exponential|2.750|34.4|17.2", "exponential|1.250|15.6|7.8",
                  "attention times V|2.000|25.0|12.5", "others|1.000|12.5|6.2", "(core)|8.000|100.0|50.0"));
}

TEST(AttentionParts, HaveTheKernelsOfSoftmaxInTheOrderOfTheSteps) {
  const StudyReport report = report_of("attention_parts", {with_core("forward")});
  EXPECT_EQ(header(report.sections.at(1)), "step|kernels|ms|% of forward|kernel");
  EXPECT_THAT(rows(report.sections[1]),
              ElementsAre("maximum|12|0.5000|3.1|reduce_kernel<MaxNanFunctor<float> >",
                          "subtraction|12|0.7500|4.7|elementwise_kernel<CUDAFunctor_add<float> >",
                          std::string{"exponential|12|1.250|7.8|"} + kExpKernel,
                          "sum|12|0.5000|3.1|reduce_kernel<sum_functor<float> >",
                          "division|12|1.000|6.2|elementwise_kernel<DivFunctor<float> >",
                          "(subtraction and exponential)|24|2.000|12.5|",
                          "(softmax without exponential)|48|2.750|17.2|", "(softmax with exponential)|60|4.000|25.0|"));
}

/// The range of the scores has two rows and opens twice in a layer; a layer has one product of the scores all the same.
TEST(AttentionParts, AreCountedPerLayerInBothPhases) {
  const StudyReport report = report_of("attention_parts", {trained_with_core()});
  EXPECT_EQ(header(report.sections.at(2)), "phase|part|kernels|mean us|% of core|% of phase");
  EXPECT_THAT(rows(report.sections[2]),
              ElementsAre("forward|QK^T|1|83.33|12.5|6.2", "forward|softmax|5|333.3|50.0|25.0",
                          "forward|attention times V|1|166.7|25.0|12.5", "forward|others|1|83.33|12.5|6.2",
                          "forward|(all)|8|666.7|100.0|50.0", "backward|QK^T|1|166.7|16.7|12.5",
                          "backward|softmax|2|333.3|33.3|25.0", "backward|attention times V|1|500.0|50.0|37.5",
                          "backward|others|0|0|0.0|0.0", "backward|(all)|4|1000|100.0|75.0"))
      << "forward's others are the mask and a fill, which is no kernel";
}

TEST(AttentionParts, OfAFusedSoftmaxHaveNoExponential) {
  for (const Record& record : {with_fused_softmax("softmax_forward", "softmax_warp_forward<float>"),
                               with_fused_softmax("reduction", "triton_per_fused_amax_exp_sub_sum_div_0")}) {
    const StudyReport report = report_of("attention_parts", {record});
    EXPECT_THAT(rows(report.sections.at(0)),
                ElementsAre("QK^T|1.000|25.0|25.0", "softmax, one fused kernel|2.000|50.0|50.0",
                            "attention times V|1.000|25.0|25.0", "others|0|0.0|0.0", "(core)|4.000|100.0|100.0"));
    EXPECT_THAT(rows(report.sections.at(1)),
                ElementsAre("fused|12|2.000|50.0|" + record.trace->kernels[1].name, "(softmax)|12|2.000|50.0|"));
    EXPECT_THAT(report.notes, Contains("Softmax takes 50.0 % of the GPU's time in the forward pass of small, 512 "
                                       "tokens, bf16, in a fused kernel that hides its exponential."));
  }
}

TEST(AttentionParts, OfASoftmaxThatIsPartlyFusedAreNotGuessed) {
  Record record = with_core("forward");
  for (TracedKernel& one : record.trace->kernels) {
    if (one.name == kExpKernel) one.name = "triton_poi_fused_exp_sub_0";
  }
  const StudyReport report = report_of("attention_parts", {record});
  EXPECT_THAT(rows(report.sections.at(0)), Contains("softmax|4.000|50.0|25.0"));
  EXPECT_THAT(rows(report.sections.at(1)), Contains("fused|12|1.250|7.8|triton_poi_fused_exp_sub_0"));
  EXPECT_THAT(rows(report.sections.at(1)), Contains("(softmax)|60|4.000|25.0|"));
  EXPECT_THAT(rows(report.sections.at(1)), Not(Contains(HasSubstr("xponential"))));
}

TEST(AttentionParts, OfRepetitionsAreMedians) {
  Record slow = with_core("forward");
  slow.trace->range_kernels.at(0).total = {9 * kMs};  // QK^T
  Record fast = with_core("forward");
  fast.trace->range_kernels.at(0).total = {0.5 * kMs};
  EXPECT_THAT(rows(report_of("attention_parts", {slow, with_core("forward"), fast}).sections.at(0)),
              Contains("QK^T|1.000|12.5|6.2"));
}

TEST(AttentionParts, WithoutTheKernelsOfRangesAreAbsent) {
  const StudyReport report = report_of("attention_parts", {inferred(), trained()});
  EXPECT_THAT(rows(report.sections.at(0)), ElementsAre("|none||"));
  EXPECT_THAT(rows(report.sections.at(1)), ElementsAre("|none|||"));
  EXPECT_THAT(rows(report.sections.at(2)), ElementsAre("||none|||"));
  EXPECT_THAT(report.notes, Not(Contains(HasSubstr("oftmax"))));
  EXPECT_THAT(report.notes, Not(Contains(HasSubstr("The core of attention"))));
}

TEST(AttentionParts, SayWhatTheExponentialTakes) {
  const std::string start = "Softmax takes 25.0 % of the GPU's time in the forward pass of small, 512 tokens, bf16";
  EXPECT_THAT(report_of("attention_parts", {with_core("forward")}).notes,
              Contains(start + ": 7.8 % for the exponential and 17.2 % for the other kernels of softmax."));
  Record unnamed = with_core("forward");
  for (TracedKernel& one : unnamed.trace->kernels) {
    if (one.name == kExpKernel) one.name = "elementwise_kernel<unknown>";
  }
  const StudyReport report = report_of("attention_parts", {unnamed});
  EXPECT_THAT(report.notes, Contains(start + "."));
  EXPECT_THAT(rows(report.sections.at(1)), Contains("(softmax)|60|4.000|25.0|"));
  EXPECT_THAT(rows(report.sections.at(1)), Not(Contains(HasSubstr("xponential"))));
}

TEST(AttentionParts, SayTheTimeOfALayerAndItsLargestPart) {
  const std::string start =
      "The core of attention in one layer of small, 512 tokens, bf16 takes 666.7 us in 8 kernels in forward and ";
  EXPECT_THAT(report_of("attention_parts", {trained_with_core()}).notes,
              Contains(start + "1000 us in 4 kernels in backward. The largest part is softmax in forward and attention "
                               "times V in backward."));
  Record same = trained_with_core();
  same.trace->range_kernels.at(10).total = {9 * kMs};  // softmax's mul, 3 ms before
  EXPECT_THAT(report_of("attention_parts", {same}).notes,
              Contains(start + "1500 us in 4 kernels in backward. The largest part of both is softmax."));
  EXPECT_THAT(report_of("attention_parts", {with_core("train_step")}).notes,
              Not(Contains(HasSubstr("The core of attention"))))
      << "a step without backward";
}

}  // namespace
}  // namespace tbench::studies
