#include "model/fused/products.hpp"

#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

#include <stdexcept>
#include <vector>

#include "tbench/cuda/matmul_autotune.hpp"

namespace tbench::model {
namespace {

cudaDataType_t operand_type(Precision precision) {
  if (precision == Precision::kBf16) return CUDA_R_16BF;
  return precision == Precision::kFp16 ? CUDA_R_16F : CUDA_R_32F;
}

at::Tensor make_workspace(at::Device device) {
  return at::empty({cuda::kMatmulWorkspaceBytes}, at::TensorOptions{}.device(device).dtype(at::kByte));
}

}  // namespace

at::ScalarType weight_gradient_type(Precision precision) {
  return precision == Precision::kBf16 ? at::kBFloat16 : at::kFloat;
}

cuda::MatmulProblem forward_problem(const LinearShape& shape) {
  const cudaDataType_t type = operand_type(shape.precision);
  return {.m = shape.tokens,
          .n = shape.out,
          .k = shape.in,
          .input_type = type,
          .output_type = type,
          .compute_type = shape.precision == Precision::kTf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
}

cuda::MatmulProblem input_gradient_problem(const LinearShape& shape, int multiprocessors) {
  cuda::MatmulProblem problem = forward_problem(shape);
  problem.n = shape.in;
  problem.k = shape.out;
  problem.w_transposed = true;
  problem.multiprocessors = multiprocessors;
  return problem;
}

cuda::MatmulProblem weight_gradient_problem(const LinearShape& shape, int multiprocessors) {
  cuda::MatmulProblem problem = forward_problem(shape);
  problem.m = shape.out;
  problem.n = shape.in;
  problem.k = shape.tokens;
  problem.x_transposed = problem.w_transposed = true;
  const bool is_short = weight_gradient_type(shape.precision) == at::kBFloat16 && !shape.adds_to_gradient;
  problem.output_type = is_short ? CUDA_R_16BF : CUDA_R_32F;
  problem.multiprocessors = multiprocessors;
  return problem;
}

ProductLibrary::ProductLibrary(at::Device device, bool has_side_stream)
    : workspace_{make_workspace(device)}, side_workspace_{has_side_stream ? make_workspace(device) : workspace_} {}

std::size_t ProductLibrary::workspace_bytes() const {
  return workspace_.nbytes() + (side_workspace_.is_same(workspace_) ? 0 : side_workspace_.nbytes());
}

Product::Product(const ProductLibrary& library, const at::Tensor& workspace, const cuda::MatmulProblem& problem)
    : workspace_{workspace}, matmul_{library.library(), problem} {}

cuda::MatmulOperands Product::operands_of(const void* x, const void* w, void* y) const {
  return {.x = x,
          .w = w,
          .y = y,
          .workspace = workspace_.mutable_data_ptr(),
          .workspace_bytes = cuda::kMatmulWorkspaceBytes};
}

void Product::select(const void* x, const void* w, void* y) {
  if (!algorithm_) choose(operands_of(x, w, y));
}

void Product::operator()(const void* x, const void* w, void* y) {
  const cuda::MatmulOperands operands = operands_of(x, w, y);
  if (!algorithm_) choose(operands);
  matmul_.launch(*algorithm_, operands, c10::cuda::getCurrentCUDAStream());
}

void Product::choose(const cuda::MatmulOperands& operands) {
  c10::cuda::device_synchronize();  // so that nothing else runs while candidates are timed
  // Split-K partial sums may have any type that LibTorch allows cuBLAS to use by default. An accumulating product must
  // not add its parts to y one by one.
  const auto sums = matmul_.problem().accumulate ? cuda::PartialSums::kComputeType : cuda::PartialSums::kAnyType;
  const std::vector<cuda::MatmulAlgorithm> candidates =
      matmul_.algorithms(cuda::kAutotuneCandidates, cuda::kMatmulWorkspaceBytes, sums);
  const auto found = cuda::fastest_algorithm(matmul_, candidates, operands, c10::cuda::getCurrentCUDAStream().stream(),
                                             cuda::ProductOperands::kWeightCold);
  if (!found) throw std::runtime_error{"cuBLASLt has no algorithm for " + cuda::describe(matmul_.problem())};
  algorithm_ = candidates.at(found->fastest);
}

Linear::Linear(const ProductLibrary& library, const LinearShape& shape, int beside_updates)
    : forward_{library, library.workspace(), forward_problem(shape)},
      alone_{library, shape, /*multiprocessors=*/0},
      beside_updates_{library, shape, beside_updates} {}

Linear::Gradients::Gradients(const ProductLibrary& library, const LinearShape& shape, int multiprocessors)
    : of_input{library, library.workspace(), input_gradient_problem(shape, multiprocessors)},
      of_weight{library, library.side_workspace(), weight_gradient_problem(shape, multiprocessors)} {}

}  // namespace tbench::model
