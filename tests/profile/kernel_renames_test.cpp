#include <gtest/gtest.h>

#include <string>

#include "profile/rule_source.hpp"
#include "tbench/core/text.hpp"
#include "tbench/profile/kernel_name.hpp"
#include "tbench/profile/kernel_rules.hpp"

namespace tbench::profile {
namespace {

TEST(KernelRenames, RenameAKernelItsArgumentsAndItsParameters) {
  EXPECT_EQ(current_kernel_name("void tbench::kernels::sm90::attention_forward_wgmma_kernel<__nv_bfloat16, 64, "
                                "tbench::kernels::sm90::ShortForward>(tbench::kernels::sm90::ForwardParameters)"),
            "void tbench::kernels::sm90::attention_fwd_sm90_kernel<__nv_bfloat16, 64, "
            "tbench::kernels::sm90::FwdM128N64x2>(tbench::kernels::sm90::FwdParams)");
  EXPECT_EQ(current_kernel_name("void tbench::kernels::attention_forward_mma_kernel<__half, 64, "
                                "tbench::kernels::SplitWarpsForward<16> >(tbench::kernels::ForwardParameters<__half>)"),
            "void tbench::kernels::sm80::attention_fwd_sm80_16bit_kernel<__half, 64, "
            "tbench::kernels::sm80::FwdWarpSplit<16> >(tbench::kernels::sm80::FwdParams<__half>)");
  EXPECT_EQ(current_kernel_name("void tbench::kernels::sm90::attention_backward_wgmma_kernel<__half, 64, "
                                "(tbench::kernels::sm90::BackwardSums)2>(tbench::kernels::sm90::BackwardParameters)"),
            "void tbench::kernels::sm90::attention_bwd_sm90_persistent_kernel<__half, 64, "
            "(tbench::kernels::sm90::DqAccumulation)2>(tbench::kernels::sm90::BwdParams)");
}

TEST(KernelRenames, TellNamespacesApart) {
  EXPECT_EQ(current_kernel_name("tbench::kernels::sm90::tf32::ForwardParameters"),
            "tbench::kernels::sm90_tf32::FwdParams");
  EXPECT_EQ(current_kernel_name("tbench::kernels::sm90::tf32::ForwardParameters::Part"),
            "tbench::kernels::sm90_tf32::FwdParams::Part");
  for (const std::string name :
       {"tbench::kernels::sm90::ForwardParametersOfMine", "other::tbench::kernels::sm90::ForwardParameters",
        "mytbench::kernels::sm90::ForwardParameters", "tbench::kernels::(anonymous namespace)::adamw_kernel<float>",
        "void flash_fwd_kernel<64>(Params)", "tbench::", ""}) {
    EXPECT_EQ(current_kernel_name(name), name);
  }
}

/// A name is renamed only once: a second reader changes nothing, and the class stays the same.
TEST(KernelRenames, EachRowKeepsTheClassAndIsFinal) {
  int kernels = 0;
  for (const std::string& line : split(kernel_rename_files().front().content, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    const auto names = split(line, '\t');
    ASSERT_EQ(names.size(), 2U) << line;
    EXPECT_EQ(current_kernel_name(names[0]), names[1]);
    EXPECT_EQ(current_kernel_name(names[1]), names[1]);
    if (names[0].find("::attention_") == std::string::npos) continue;
    ++kernels;
    EXPECT_EQ(KernelRules::built_in().classify(names[0]), KernelClass::kAttentionFused) << names[0];
    EXPECT_EQ(KernelRules::built_in().classify(names[1]), KernelClass::kAttentionFused) << names[1];
  }
  EXPECT_EQ(kernels, 22);
}

}  // namespace
}  // namespace tbench::profile
