#include "tbench/profile/kernel_name.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/profile/kernel_rules.hpp"

namespace tbench::profile {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(KernelName, IsTheFunctionsWithoutReturnTypeTemplateArgumentsAndParameters) {
  EXPECT_EQ(kernel_name("void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, (int)128>, "
                        "false>(pytorch_flash::Flash_fwd_params)"),
            "pytorch_flash::flash_fwd_kernel");
  EXPECT_EQ(kernel_name("void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float, "
                        "at::native::(anonymous namespace)::SoftMaxForwardEpilogue>(float*, float const*, int)"),
            "at::native::(anonymous namespace)::cunn_SoftMaxForward");
  EXPECT_EQ(kernel_name("spin(unsigned long long) [clone .part]"), "spin");
}

/// The names are from PyTorch 2.11.
TEST(KernelName, OfWhatIsNoFunctionStays) {
  EXPECT_EQ(kernel_name("CUDA graph 5"), "CUDA graph 5");
  EXPECT_EQ(kernel_name("Memset 2 (device)"), "Memset 2 (device)");
}

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

/// Nsight Systems prints these names with NVIDIA's demangler.
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

using enum ProductPrecision;

TEST(ProductPrecision, IsToldByTheStructureOfNames) {
  const std::map<std::string, std::optional<ProductPrecision>> expected{
      {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_kernel", kFp32},
      {"ampere_sgemm_128x64_tn", kFp32},
      {"void cutlass::Kernel<cutlass_80_simt_sgemm_128x64_8x5_tn_align1>(T1::Params)", kFp32},
      {"void gemmSN_TN_kernel<float, 128, 16, 2, 4, 8, 9, false>(float)", kFp32},
      {"sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x128x32_warpgroupsize1x1x1_kernel", kTf32},
      {"void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_256x64_16x4_tn_align4>(T1::Params)", kTf32},
      {"void cutlass::Kernel<cutlass_75_tensorop_f16_s1688gemm_f16_128x256_nt_align8>(T1::Params)", k16Bit},
      {"ampere_bf16_s1688gemm_bf16_128x64_sliced1x2_ldg8_f2f_stages_32x6_tn", k16Bit},
      {"volta_h884gemm_64x128_ldg8_nn", k16Bit},
      {"nvjet_sm90_hsh_192x128_64x5_1x2_h_bz_coopB_TNT", k16Bit},
      {"nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNN", k16Bit},
      {"sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize96x128x32_stage4_kernel", k16Bit},
      {"nvjet_qqtst_128x128_128x6_1x2_h_bz_TNT", k8Bit},
      {"sm100_xmma_gemm_e4m3e4m3_bf16f32_f32_tnn_n_tilesize256x128x128_kernel", k8Bit},
      {"void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 7168u>(float*)", k8Bit},
      {"nvjet_sm100_sss_128x128_h_bz_TNT", std::nullopt},
      {"nvjet_", std::nullopt},
      {"cublas_bf16x9_gemm_kernel", std::nullopt},
      {"triton_mm", std::nullopt}};
  for (const auto& [name, precision] : expected) EXPECT_EQ(product_precision(name), precision) << name;
}

// Names of cuBLAS and CUTLASS kernels that ran on an H200. The precision of every product follows from its name, except
// for the names of epilogues.
TEST(ProductPrecision, IsToldByNamesThatRan) {
  std::ifstream file{TBENCH_PROFILE_DATA "/kernel_names.json"};
  KernelClassifier classify{KernelRules::built_in()};
  int products = 0;
  std::vector<std::string> silent;
  for (const auto& entry : nlohmann::json::parse(file)) {
    const std::string name = entry.at("name");
    if (classify(name) != KernelClass::kGemm) continue;
    ++products;
    if (!product_precision(name)) silent.push_back(name);
  }
  EXPECT_GT(products, 25);
  EXPECT_LE(silent.size(), 4U) << testing::PrintToString(silent);
}

StepTrace step_of(const std::vector<std::string>& products) {
  StepTrace step;
  for (const std::string& name : products) {
    step.kernels.push_back({.phase = "forward",
                            .kernel_class = "gemm",
                            .name = name,
                            .calls = 1,
                            .total = {1e-3},
                            .min = {1e-3},
                            .max = {1e-3},
                            .standard_deviation = {}});
  }
  return step;
}

const std::string kOfFp32 = "ampere_sgemm_128x64_tn";
const std::string kOfTf32 = "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_kernel";
const std::string kOfBf16 = "nvjet_sm90_tst_192x128_64x5_1x2_h_bz_TNT";
const std::string kSilent = "triton_mm";

TEST(ProductProblem, ATf32CaseHasATf32Kernel) {
  EXPECT_EQ(product_problem(step_of({kOfFp32, kOfTf32}), Precision::kTf32), std::nullopt);
  EXPECT_EQ(product_problem(step_of({kOfFp32, kSilent}), Precision::kTf32), std::nullopt) << "nobody knows";
  EXPECT_EQ(product_problem(step_of({}), Precision::kTf32), std::nullopt) << "fused attention has none";
  EXPECT_EQ(product_problem(step_of({kOfFp32}), Precision::kTf32),
            "precision:tf32: ampere_sgemm_128x64_tn multiplies in float32, and no matrix product of the step in TF32");
}

TEST(ProductProblem, Float32HasNoLesserProduct) {
  EXPECT_EQ(product_problem(step_of({kOfFp32, kSilent}), Precision::kFp32), std::nullopt);
  EXPECT_THAT(product_problem(step_of({kOfFp32, kOfTf32, kSilent}), Precision::kFp32).value_or(""),
              AllOf(HasSubstr("precision:fp32: sm90_xmma_gemm"), HasSubstr("multiplies in TF32")));
}

TEST(ProductProblem, SixteenBitsAreUsedSomewhere) {
  for (const Precision precision : {Precision::kBf16, Precision::kFp16}) {
    EXPECT_EQ(product_problem(step_of({kOfFp32, kOfBf16}), precision), std::nullopt);
    EXPECT_THAT(product_problem(step_of({kOfTf32}), precision).value_or(""), HasSubstr("no matrix product"));
  }
}

TEST(ProductProblem, OtherClassesAreNoProducts) {
  StepTrace step = step_of({kOfTf32});
  step.kernels[0].kernel_class = "attention_fused";
  EXPECT_EQ(product_problem(step, Precision::kFp32), std::nullopt);
}

}  // namespace
}  // namespace tbench::profile
