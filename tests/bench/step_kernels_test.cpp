#include "bench/step_kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbench::bench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Optional;

const PhaseKernels kForward{.phase = "forward", .launches = {{"lib::flash_fwd", 1}}};
const PhaseKernels kBackward{.phase = "backward", .launches = {{"fill", 3}, {"lib::flash_bwd", 1}}};
const PhaseKernels kDecomposed{.phase = "backward", .launches = {{"gemm", 4}, {"softmax_backward", 1}}};

TEST(StepKernels, AreToldPhaseByPhaseWithTheirCounts) {
  EXPECT_EQ(to_string(StepKernels{kForward}), "lib::flash_fwd");
  EXPECT_EQ(to_string(StepKernels{kForward, kBackward}), "lib::flash_fwd | fill x3; lib::flash_bwd");
}

TEST(MissingKernel, IsNoneWhereEveryPhaseHasAMarkedOne) {
  EXPECT_EQ(missing_kernel("sdpa_flash", "flash", {kForward}), std::nullopt);
  EXPECT_EQ(missing_kernel("sdpa_flash", "flash", {kForward, kBackward}), std::nullopt);
}

TEST(MissingKernel, IsToldWithWhatRan) {
  EXPECT_THAT(missing_kernel("sdpa_flash", "flash", {kForward, kDecomposed}),
              Optional(std::string{"sdpa_flash: no kernel of the backward has \"flash\" in its name; there ran: "
                                   "gemm x4; softmax_backward"}));
  EXPECT_THAT(missing_kernel("sdpa_cudnn", "cudnn", {kForward, kBackward}),
              Optional(AllOf(HasSubstr("of the forward"), HasSubstr("cudnn"), HasSubstr("lib::flash_fwd"))));
  EXPECT_THAT(missing_kernel("flash", "flash", {{.phase = "forward", .launches = {}}}),
              Optional(HasSubstr("there ran: none")));
}

TEST(MissingKernel, IsNoneWhereNothingIsAsked) {
  EXPECT_EQ(missing_kernel("naive", "", {kForward, kDecomposed}), std::nullopt);
  EXPECT_EQ(missing_kernel("naive", "", {{.phase = "forward", .launches = {}}}), std::nullopt);
}

}  // namespace
}  // namespace tbench::bench
