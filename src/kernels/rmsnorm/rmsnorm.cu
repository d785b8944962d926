// The launches: types and the plan's vectors as template arguments.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernels/common/dispatch.hpp"
#include "kernels/rmsnorm/norm_rows.cuh"
#include "tbench/cuda/error.hpp"
#include "tbench/kernels/rmsnorm.hpp"

namespace tbench::kernels {
namespace {

int multiprocessors_of_device() {
  int device{}, count{};
  TBENCH_CUDA_CHECK(cudaGetDevice(&device));
  TBENCH_CUDA_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
}

/// Calls `use` with tags of the stream's, the branch's and the weight's type.
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

/// Calls `use` with the vector's width and a thread's elements as constants.
template <class Stream, class Use>
void with_plan(const NormPlan& plan, const Use& use) {
  constexpr int kVector = kVectorBytes / static_cast<int>(sizeof(Stream));
  const auto with_width = [&](auto width) { plan.elements == 8 ? use(width, Number<8>{}) : use(width, Number<32>{}); };
  plan.width_of_vector == 1 ? with_width(Number<1>{}) : with_width(Number<kVector>{});
}

/// Of the runtime, for a kernel whose blocks need not run all at once, or have to.
using Launch = cudaError_t(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                           cudaStream_t stream);

unsigned threads_of(const NormPlan& plan) { return static_cast<unsigned>(plan.threads * plan.groups); }
unsigned blocks_of(const NormPlan& plan) { return static_cast<unsigned>(plan.blocks); }

}  // namespace

std::int64_t norm_workspace_bytes(const NormShape& shape) {
  // Blocks do not depend on vectors.
  const NormPlan plan = norm_backward_plan(shape, true, multiprocessors_of_device());
  return plan.blocks * shape.width * static_cast<std::int64_t>(sizeof(float));
}

void norm_forward(const NormShape& shape, const NormForward& tensors, cudaStream_t stream) {
  const NormPlan plan = norm_forward_plan(
      shape, are_aligned({tensors.x, tensors.branch, tensors.weight, tensors.sum, tensors.normed}, kVectorBytes));
  check_pointers("rmsnorm, forward", {tensors.x, tensors.weight, tensors.normed});
  if ((tensors.branch == nullptr) != (tensors.sum == nullptr)) {
    throw std::invalid_argument{"rmsnorm, forward: of branch and sum one is null; a sum has two terms"};
  }
  const int width = static_cast<int>(shape.width);
  with_types(shape.types, [&](auto stream_type, auto branch_type, auto weight_type) {
    using Stream = typename decltype(stream_type)::Type;
    using Branch = typename decltype(branch_type)::Type;
    using Weight = typename decltype(weight_type)::Type;
    with_plan<Stream>(plan, [&](auto vector, auto elements) {
      rmsnorm_forward_kernel<Stream, Branch, Weight, decltype(vector)::value, decltype(elements)::value>
          <<<blocks_of(plan), threads_of(plan), 0, stream>>>(tensors, shape.rows, width, plan.threads, shape.epsilon);
    });
  });
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

void norm_backward(const NormShape& shape, const NormBackward& tensors, cudaStream_t stream) {
  // What the device has no part in is checked first.
  static_cast<void>(norm_forward_plan(shape, true));
  check_pointers("rmsnorm, backward",
                 {tensors.sum, tensors.weight, tensors.rstd, tensors.dnormed, tensors.dx, tensors.workspace});
  const bool in_vectors = are_aligned(
      {tensors.sum, tensors.weight, tensors.dnormed, tensors.dsum, tensors.dx, tensors.dbranch, tensors.workspace},
      kVectorBytes);
  const NormPlan plan = norm_backward_plan(shape, in_vectors, multiprocessors_of_device());
  int width = static_cast<int>(shape.width);
  const std::size_t shared = plan.groups > 1 ? static_cast<std::size_t>(width) * sizeof(float) : 0;
  int threads_of_row = plan.threads;
  NormBackward given = tensors;
  std::int64_t rows = shape.rows;
  std::array<void*, 4> arguments{&given, &rows, &width, &threads_of_row};
  with_types(shape.types, [&](auto stream_type, auto branch_type, auto weight_type) {
    using Stream = typename decltype(stream_type)::Type;
    using Branch = typename decltype(branch_type)::Type;
    using Weight = typename decltype(weight_type)::Type;
    with_plan<Stream>(plan, [&](auto vector, auto elements) {
      const auto kernel =
          &rmsnorm_backward_kernel<Stream, Branch, Weight, decltype(vector)::value, decltype(elements)::value>;
      Launch* const launch = tensors.dweight == nullptr ? static_cast<Launch*>(&cudaLaunchKernel)
                                                        : static_cast<Launch*>(&cudaLaunchCooperativeKernel);
      TBENCH_CUDA_CHECK(launch(reinterpret_cast<const void*>(kernel), dim3{blocks_of(plan)}, dim3{threads_of(plan)},
                               arguments.data(), shared, stream));
    });
  });
}

void norm_weight_gradients(const NormShape& shape, std::span<const NormShares> norms, cudaStream_t stream) {
  static_cast<void>(norm_forward_plan(shape, true));
  for (const NormShares& norm : norms) {
    check_pointers("rmsnorm, gradients of weights", {norm.workspace, norm.dweight});
  }
  if (norms.empty()) return;
  const int width = static_cast<int>(shape.width);
  // Blocks do not depend on vectors.
  const int shares = static_cast<int>(norm_backward_plan(shape, true, multiprocessors_of_device()).blocks);
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
