#include "tbench/profile/kernel_name.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace tbench::profile {
namespace {

TEST(KernelName, IsTheFunctionsWithoutReturnTypeTemplateArgumentsAndParameters) {
  EXPECT_EQ(kernel_name("void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, (int)128>, "
                        "false>(pytorch_flash::Flash_fwd_params)"),
            "pytorch_flash::flash_fwd_kernel");
  EXPECT_EQ(kernel_name("void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float, "
                        "at::native::(anonymous namespace)::SoftMaxForwardEpilogue>(float*, float const*, int)"),
            "at::native::(anonymous namespace)::cunn_SoftMaxForward");
  EXPECT_EQ(kernel_name("spin(unsigned long long) [clone .part]"), "spin");
}

/// As PyTorch 2.11 has them.
TEST(KernelName, IsReadFromMangledOnes) {
  EXPECT_EQ(kernel_name("_ZN13pytorch_flash25flash_bwd_dot_do_o_kernelILb0E23Flash_bwd_kernel_traitsILi128ELi64ELi64ELi"
                        "8ELi4ELi2ELi2ELb1ELb0EN7cutlass10bfloat16_tE19Flash_kernel_traitsILi128ELi64ELi64ELi8ES3_EEEEv"
                        "NS_16Flash_bwd_paramsE"),
            "pytorch_flash::flash_bwd_dot_do_o_kernel");
  EXPECT_EQ(kernel_name("_ZN2at6native43_GLOBAL__N__b6de9c8c_10_SoftMax_cu_9f978f6319cunn_SoftMaxForwardILi8EN3c108"
                        "BFloat16EffNS1_22SoftMaxForwardEpilogueEEEvPT2_PKT0_i"),
            "at::native::(anonymous namespace)::cunn_SoftMaxForward");
  EXPECT_EQ(kernel_name("_Z40fmha_cutlassF_bf16_aligned_64x64_rf_sm80N22PyTorchMemEffAttention15AttentionKernelIN7"
                        "cutlass10bfloat16_tENS1_4arch4Sm80ELb1ELi64ELi64ELi64ELb1ELb1EE6ParamsE"),
            "fmha_cutlassF_bf16_aligned_64x64_rf_sm80");
  // One of its template arguments is a lambda.
  EXPECT_EQ(kernel_name("_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_15gpu_kernel_implINS0_10AbsFunctorIbEEEEvRNS_"
                        "18TensorIteratorBaseERKT_EUliE_EEviT1_"),
            "at::native::elementwise_kernel");
}

/// Nsight Systems has them from NVIDIA's demangler.
TEST(KernelName, IsTheSameInEitherSpelling) {
  EXPECT_EQ(kernel_name("void at::native::<unnamed>::CatArrayBatchedCopy<at::native::<unnamed>::OpaqueType<(unsigned "
                        "int)2>, unsigned int, (int)4, (int)64, (int)64>(T1 *, int)"),
            "at::native::(anonymous namespace)::CatArrayBatchedCopy");
  EXPECT_EQ(kernel_name("void at::native::vectorized_elementwise_kernel<(int)4, at::native::exp_kernel_cuda("
                        "at::TensorIteratorBase &)::[lambda() (instance 2)]::operator ()() const::[lambda(float) "
                        "(instance 1)], std::array<char *, (unsigned long)2>>(int, T2, T3)"),
            "at::native::vectorized_elementwise_kernel");
  EXPECT_EQ(kernel_name("void run(int)::[lambda(int) (instance 1)]::operator ()(int) const"),
            "run::[lambda(int) (instance 1)]::operator()");
}

TEST(KernelName, DemanglesWhatIsMangled) {
  EXPECT_EQ(demangled_name("_Z4spiny"), "spin(unsigned long long)");
  EXPECT_EQ(demangled_name("spin(unsigned long long)"), "spin(unsigned long long)");
  EXPECT_EQ(demangled_name("f"), "f");
}

TEST(KernelName, OfNoFunctionOfCxxStaysAsItIs) {
  for (const char* name :
       {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas", "triton_red_fused_0", "f",
        "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_cga1x1x1_kernel0_0"}) {
    EXPECT_EQ(kernel_name(name), name);
  }
}

TEST(KernelName, LambdasAndOperatorsAreNoBrackets) {
  EXPECT_EQ(kernel_name("void run<at::f(at::Iterator&)::{lambda()#2}::operator()() const::{lambda(float)#1}>(int)"),
            "run");
  EXPECT_EQ(kernel_name("at::f(std::vector<int>&) const::{lambda(int)#1}::operator()(int) const"),
            "at::f::{lambda(int)#1}::operator()");
  EXPECT_EQ(kernel_name("void run<&N::operator<, &N::operator->, &N::operator>>(int)"), "run");
  EXPECT_EQ(kernel_name("void run<decltype (p->x), ((4) > (3)), ((3) < (4))>(int)"), "run");
}

TEST(KernelName, OfWhatCannotBeReadIsSomething) {
  const std::string_view text = "void a::(anonymous namespace)::k<b<(int)4>, {lambda(c)#1}::operator()>(d) const::e";
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    for (std::size_t length = 1; begin + length <= text.size(); ++length) {
      EXPECT_NE(kernel_name(std::string{text.substr(begin, length)}), "") << text.substr(begin, length);
    }
  }
  EXPECT_EQ(kernel_name(""), "");
  EXPECT_EQ(kernel_name("_Znonsense"), "_Znonsense");
  EXPECT_EQ(kernel_name("<(>){"), "<(>){");
}

}  // namespace
}  // namespace tbench::profile
