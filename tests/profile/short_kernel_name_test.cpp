#include "tbench/profile/short_kernel_name.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace tbench::profile {
namespace {

constexpr const char* kMul =
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl<at::native::BinaryFunctor<c10::Half, "
    "c10::Half, c10::Half, at::native::binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&, "
    "at::native::BinaryFunctor<c10::Half, c10::Half, c10::Half, at::native::binary_internal::MulFunctor<float> > "
    "const&)::{lambda(int)#1}>(int)";

TEST(ShortKernelName, HasTheOperationAndTheTypeOfAGenericKernel) {
  EXPECT_EQ(short_kernel_name(kMul), "elementwise_kernel [mul f16]");
  EXPECT_EQ(
      short_kernel_name("void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::"
                        "silu_backward_kernel(at::TensorIteratorBase&)::{lambda()#1}::operator()() const::"
                        "{lambda()#2}::operator()() const::{lambda(float, float)#1}, std::array<char*, 3ul> >(int)"),
      "vectorized_elementwise_kernel [silu_backward f32]");
  EXPECT_EQ(short_kernel_name("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
                              "at::native::MeanOps<float, float, float, float>, unsigned int, float, 4, 4> >(int)"),
            "reduce_kernel [mean f32]");
  EXPECT_EQ(
      short_kernel_name("void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native"
                        "::CUDAFunctor_add<float> >(int)::{lambda(int)#1}>(int)"),
      "elementwise_kernel [add f32]");
}

TEST(ShortKernelName, NamesTheFunctorOfAKernelOverLists) {
  EXPECT_EQ(
      short_kernel_name("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
                        "namespace)::TensorListMetadata<3>, at::native::(anonymous namespace)::"
                        "PointwiseOpScalarFunctor<float, 3, 3, 0>, std::multiplies<float>, float>(int)"),
      "multi_tensor_apply_kernel [addcmul f32]");
  EXPECT_EQ(
      short_kernel_name("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
                        "namespace)::TensorListMetadata<1>, at::native::(anonymous namespace)::"
                        "BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies<float>, float>(int)"),
      "multi_tensor_apply_kernel [mul f32]");
}

TEST(ShortKernelName, OfOtherKernelsHasNeitherNamespaceNorArguments) {
  EXPECT_EQ(short_kernel_name("void cutlass::Kernel2<cutlass_80_simt_sgemm_128x128_8x4_tn_align1>("
                              "cutlass_80_simt_sgemm_128x128_8x4_tn_align1::Params)"),
            "cutlass_80_simt_sgemm_128x128_8x4_tn_align1");
  EXPECT_EQ(short_kernel_name("void tbench::kernels::swiglu_forward_kernel<float, 4>(float const*)"),
            "swiglu_forward_kernel");
  EXPECT_EQ(short_kernel_name("nvjet_sm90_tst_96x128_64x7_1x2_h_bz_TNT"), "nvjet_sm90_tst_96x128_64x7_1x2_h_bz_TNT");
  EXPECT_EQ(short_kernel_name("Memcpy DtoD"), "Memcpy DtoD");
  EXPECT_EQ(short_kernel_name(""), "");
}

TEST(ShortKernelName, OfAProductOfCublasHasTypeLayoutsAndTile) {
  constexpr const char* kEnd = "_ffma_aligna4_alignc4_execute_kernel__5x_cublas";
  const std::string product = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_stage3_warpsize1x4x1";
  EXPECT_EQ(short_kernel_name(product + kEnd), "sm80_xmma_gemm [f32 tn 64x64x8]");
  EXPECT_EQ(short_kernel_name("sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x256x32_warpgroupsize2x1x1_execute_"
                              "segment_k_on_kernel__5x_cublas"),
            "sm90_xmma_gemm [tf32 nn 128x256x32 segment_k_on]");
  constexpr const char* kUnknown = "sm80_xmma_gemm_i4i4_i4i4_i4_tn_n_tilesize64x64x8_execute_kernel__5x_cublas";
  EXPECT_EQ(short_kernel_name(kUnknown), kUnknown);
  EXPECT_EQ(short_kernel_name("sm80_xmma_gemm_f32"), "sm80_xmma_gemm_f32");
}

TEST(ShortKernelNames, ShowTheArgumentsInWhichTheyDiffer) {
  const std::vector<std::string> names{"void softmax_warp_forward<float, float, float, 9, false>(float*)",
                                       "void softmax_warp_forward<float, float, float, 10, false>(float*)", "other"};
  const auto found = short_kernel_names(names);
  EXPECT_EQ(found.at(names[0]), "softmax_warp_forward <9>");
  EXPECT_EQ(found.at(names[1]), "softmax_warp_forward <10>");
  EXPECT_EQ(found.at("other"), "other");
}

TEST(ShortKernelNames, LookIntoTheArgumentsOfTheSameTemplate) {
  const std::vector<std::string> names{"void a::k<Traits<64, 128, bool>, true>(int)",
                                       "void a::k<Traits<64, 256, bool>, true>(int)"};
  const auto found = short_kernel_names(names);
  EXPECT_EQ(found.at(names[0]), "k <128>");
  EXPECT_EQ(found.at(names[1]), "k <256>");
}

TEST(ShortKernelNames, AreNumberedIfNoArgumentDiffers) {
  const std::vector<std::string> names{"void k<int>(float*)", "void k<int>(double*)", "void k<int>(double*)"};
  const auto found = short_kernel_names(names);
  EXPECT_EQ((std::set{found.at(names[0]), found.at(names[1])}), (std::set<std::string>{"k", "k #2"}));
}

}  // namespace
}  // namespace tbench::profile
