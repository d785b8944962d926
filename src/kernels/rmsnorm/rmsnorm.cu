// Launches of the norm's kernels. They turn types and the plan's vectors into template arguments.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernels/common/dispatch.hpp"
#include "kernels/common/step_fault.cuh"
#include "kernels/rmsnorm/norm_backward.cuh"
#include "kernels/rmsnorm/norm_forward.cuh"
#include "kernels/rmsnorm/plan.hpp"
#include "tbench/cuda/error.hpp"
#include "tbench/kernels/rmsnorm.hpp"

namespace tbench::kernels {
namespace {

NormDevice current_device() {
  int device{}, multiprocessors{}, shared_bytes{};
  TBENCH_CUDA_CHECK(cudaGetDevice(&device));
  TBENCH_CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  TBENCH_CUDA_CHECK(cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
  return {.multiprocessors = multiprocessors, .shared_bytes = shared_bytes};
}

/// Returns the number of CTAs of the backward pass, which is the same with and without vectors.
std::int64_t backward_blocks(const NormShape& shape) {
  return norm_plan(NormPass::kBackward, shape, /*in_vectors=*/true, current_device()).blocks;
}

/// Calls `use` with tags of the types of stream, branch and weight.
template <class Use>
void with_types(const NormTypes& types, const Use& use) {
  if (types.stream == Precision::kFp32) {
    with_storage_type("rmsnorm", types.branch, [&](auto branch) { use(TypeTag<float>{}, branch, TypeTag<float>{}); });
  } else {
    with_storage_type("rmsnorm", types.stream, [&](auto all) {
      if constexpr (!std::is_same_v<decltype(all), TypeTag<float>>) use(all, all, all);
    });
  }
}

template <int kValue>
using Number = std::integral_constant<int, kValue>;

/// Calls `use` with the vector's width and the elements per thread as constants.
template <class Stream, class Use>
void with_plan(const NormPlan& plan, const Use& use) {
  constexpr int kVector = kVectorBytes / static_cast<int>(sizeof(Stream));
  const auto with_width = [&](auto width) {
    plan.elements == kNormFewElements ? use(width, Number<kNormFewElements>{})
                                      : use(width, Number<kNormManyElements>{});
  };
  plan.width_of_vector == 1 ? with_width(Number<1>{}) : with_width(Number<kVector>{});
}

/// Type of the runtime's two launch functions: the ordinary launch, and the cooperative launch for CTAs that all have
/// to run at the same time.
using Launch = cudaError_t(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                           cudaStream_t stream);

template <class... Parameters>
void launch_planned(Launch* launch, void (*kernel)(Parameters...), const NormPlan& plan, cudaStream_t stream,
                    std::type_identity_t<Parameters>... arguments) {
  const auto* const function = reinterpret_cast<const void*>(kernel);
  if (norm_asks_for_shared(plan)) {
    TBENCH_CUDA_CHECK(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(plan.shared_bytes)));
  }
  upload_step_fault(stream);
  std::array<void*, sizeof...(Parameters)> pointers{&arguments...};
  TBENCH_CUDA_CHECK(launch(function, dim3{static_cast<unsigned>(plan.blocks)},
                           dim3{static_cast<unsigned>(plan.threads * plan.groups)}, pointers.data(),
                           static_cast<std::size_t>(plan.shared_bytes), stream));
}

}  // namespace

std::int64_t norm_workspace_bytes(const NormShape& shape) {
  return backward_blocks(shape) * shape.width * static_cast<std::int64_t>(sizeof(float));
}

void norm_forward(const NormShape& shape, const NormForward& tensors, cudaStream_t stream) {
  check_norm(shape);
  check_pointers("rmsnorm, forward", {tensors.x, tensors.weight, tensors.normed});
  if ((tensors.branch == nullptr) != (tensors.sum == nullptr)) {
    throw std::invalid_argument{"rmsnorm, forward: of branch and sum one is null; a sum has two terms"};
  }
  const bool in_vectors =
      are_aligned({tensors.x, tensors.branch, tensors.weight, tensors.sum, tensors.normed}, kVectorBytes);
  const NormPlan plan = norm_plan(NormPass::kForward, shape, in_vectors, current_device());
  const int width = static_cast<int>(shape.width);
  with_types(shape.types, [&](auto stream_type, auto branch_type, auto weight_type) {
    using Stream = typename decltype(stream_type)::Type;
    using Branch = typename decltype(branch_type)::Type;
    using Weight = typename decltype(weight_type)::Type;
    with_plan<Stream>(plan, [&](auto vector, auto elements) {
      launch_planned(
          static_cast<Launch*>(&cudaLaunchKernel),
          &rmsnorm_forward_kernel<Stream, Branch, Weight, decltype(vector)::value, decltype(elements)::value>, plan,
          stream, tensors, shape.rows, width, plan.threads, shape.epsilon);
    });
  });
}

void norm_backward(const NormShape& shape, const NormBackward& tensors, cudaStream_t stream) {
  check_norm(shape);
  check_pointers("rmsnorm, backward",
                 {tensors.sum, tensors.weight, tensors.rstd, tensors.dnormed, tensors.dx, tensors.workspace});
  const bool in_vectors = are_aligned(
      {tensors.sum, tensors.weight, tensors.dnormed, tensors.dsum, tensors.dx, tensors.dbranch, tensors.workspace},
      kVectorBytes);
  const NormPlan plan = norm_plan(NormPass::kBackward, shape, in_vectors, current_device());
  const int width = static_cast<int>(shape.width);
  Launch* const launch = tensors.dweight == nullptr ? static_cast<Launch*>(&cudaLaunchKernel)
                                                    : static_cast<Launch*>(&cudaLaunchCooperativeKernel);
  with_types(shape.types, [&](auto stream_type, auto branch_type, auto weight_type) {
    using Stream = typename decltype(stream_type)::Type;
    using Branch = typename decltype(branch_type)::Type;
    using Weight = typename decltype(weight_type)::Type;
    with_plan<Stream>(plan, [&](auto vector, auto elements) {
      launch_planned(
          launch, &rmsnorm_backward_kernel<Stream, Branch, Weight, decltype(vector)::value, decltype(elements)::value>,
          plan, stream, tensors, shape.rows, width, plan.threads);
    });
  });
}

void norm_weight_gradients(const NormShape& shape, std::span<const NormShares> norms, cudaStream_t stream) {
  check_norm(shape);
  for (const NormShares& norm : norms) {
    check_pointers("rmsnorm, gradients of weights", {norm.workspace, norm.dweight});
  }
  if (norms.empty()) return;
  const int width = static_cast<int>(shape.width);
  const int shares = static_cast<int>(backward_blocks(shape));
  while (!norms.empty()) {
    NormSharesTable table{};
    const std::size_t count = std::min<std::size_t>(norms.size(), kNormsOfALaunch);
    std::ranges::copy(norms.first(count), table.norms);
    const dim3 grid{static_cast<unsigned>(ceil_div(shape.width, kWarpThreads)), static_cast<unsigned>(count)};
    with_types(shape.types, [&](auto, auto, auto weight_type) {
      rmsnorm_weight_gradient_kernel<typename decltype(weight_type)::Type>
          <<<grid, kSharesThreads, 0, stream>>>(table, shares, width);
    });
    TBENCH_CUDA_CHECK(cudaGetLastError());
    norms = norms.subspan(count);
  }
}

}  // namespace tbench::kernels
