// A correct plug-in for all three families in float32 on the CPU. It has forward and backward, a workspace, tensors
// that forward saves for backward, and operations without a backward pass.
#include <cstring>

#include "plain_math.hpp"

namespace {

using namespace tbench::test;

template <class Problem>
const char* unsupported(const Problem* problem) {
  if (problem->device != TBENCH_CPU) return "honest runs on the CPU alone";
  return problem->precision == TBENCH_FP32 ? nullptr : "honest computes in float32 alone";
}

const char* attention_forward(const tbench_attention_problem* problem, const tbench_attention_forward* in) {
  attend(*problem, *in);
  return nullptr;
}

const char* attention_backward(const tbench_attention_problem* problem, const tbench_attention_backward* in) {
  attend_backward(*problem, *in);
  return nullptr;
}

/// Computes through the workspace and checks that it has the requested size.
const char* launch_gemm(const tbench_gemm_problem* problem, const tbench_gemm_arguments* in) {
  if (in->launch.workspace_bytes != problem->m * problem->n * 4) return "the workspace has another size";
  tbench_gemm_arguments aside = *in;
  aside.y.data = in->launch.workspace;
  multiply(*problem, aside);
  std::memcpy(in->y.data, in->launch.workspace, static_cast<std::size_t>(in->launch.workspace_bytes));
  return nullptr;
}

constexpr double kEpsilon = 1e-5;

/// Saves 1 / rms of each row.
void rmsnorm(const tbench_kernel_problem& problem, const tbench_kernel_arguments& in) {
  for (std::int64_t row = 0; row < problem.batch * problem.context; ++row) {
    const float* const x = read(in.inputs[0]) + row * problem.d_model;
    double squares = 0;
    for (std::int64_t i = 0; i < problem.d_model; ++i) squares += static_cast<double>(x[i]) * x[i];
    const double inverse = 1.0 / std::sqrt(squares / static_cast<double>(problem.d_model) + kEpsilon);
    if (in.saved != nullptr) static_cast<double*>(in.saved)[row] = inverse;
    for (std::int64_t i = 0; i < problem.d_model; ++i) {
      write(in.results[0])[row * problem.d_model + i] = static_cast<float>(x[i] * inverse * read(in.inputs[1])[i]);
    }
  }
}

/// With n = x / rms and g = dy w: dx = (g - n mean(g n)) / rms, dw = sum over rows of dy n.
void rmsnorm_backward(const tbench_kernel_problem& problem, const tbench_kernel_arguments& in) {
  const std::int64_t width = problem.d_model;
  std::vector<double> dw(static_cast<std::size_t>(width));
  for (std::int64_t row = 0; row < problem.batch * problem.context; ++row) {
    const float *x = read(in.inputs[0]) + row * width, *w = read(in.inputs[1]);
    const float* const dy = read(in.gradients[0]) + row * width;
    const double inverse = static_cast<const double*>(in.saved)[row];
    double mean = 0;
    for (std::int64_t i = 0; i < width; ++i) mean += static_cast<double>(dy[i]) * w[i] * x[i] * inverse;
    mean /= static_cast<double>(width);
    for (std::int64_t i = 0; i < width; ++i) {
      const double n = x[i] * inverse;
      write(in.results[0])[row * width + i] =
          static_cast<float>((static_cast<double>(dy[i]) * w[i] - n * mean) * inverse);
      dw[static_cast<std::size_t>(i)] += dy[i] * n;
    }
  }
  for (std::int64_t i = 0; i < width; ++i) {
    write(in.results[1])[i] = static_cast<float>(dw[static_cast<std::size_t>(i)]);
  }
}

void softmax(const tbench_kernel_problem& problem, const tbench_kernel_arguments& in) {
  const std::int64_t width = problem.context;
  for (std::int64_t row = 0; row < count(in.results[0]) / width; ++row) {
    const float* const x = read(in.inputs[0]) + row * width;
    double largest = x[0], sum = 0;
    for (std::int64_t i = 0; i < width; ++i) largest = std::fmax(largest, x[i]);
    for (std::int64_t i = 0; i < width; ++i) sum += std::exp(x[i] - largest);
    for (std::int64_t i = 0; i < width; ++i) {
      write(in.results[0])[row * width + i] = static_cast<float>(std::exp(x[i] - largest) / sum);
    }
  }
}

/// Computes the backward from the output of the forward pass, not from saved tensors.
void softmax_backward(const tbench_kernel_problem& problem, const tbench_kernel_arguments& in) {
  const std::int64_t width = problem.context;
  for (std::int64_t row = 0; row < count(in.results[0]) / width; ++row) {
    const float *p = read(in.outputs[0]) + row * width, *dp = read(in.gradients[0]) + row * width;
    double sum = 0;
    for (std::int64_t i = 0; i < width; ++i) sum += static_cast<double>(p[i]) * dp[i];
    for (std::int64_t i = 0; i < width; ++i) {
      write(in.results[0])[row * width + i] = static_cast<float>(p[i] * (dp[i] - sum));
    }
  }
}

bool is(const tbench_kernel_problem* problem, const char* op) { return std::strcmp(problem->op, op) == 0; }

const char* kernel_forward(const tbench_kernel_problem* problem, const tbench_kernel_arguments* in) {
  if (is(problem, "rmsnorm")) {
    rmsnorm(*problem, *in);
  } else if (is(problem, "softmax")) {
    softmax(*problem, *in);
  } else {
    for (std::int64_t i = 0; i < count(in->results[0]); ++i) {
      write(in->results[0])[i] = read(in->inputs[0])[i] + read(in->inputs[1])[i];
    }
  }
  return nullptr;
}

const char* kernel_backward(const tbench_kernel_problem* problem, const tbench_kernel_arguments* in) {
  if (is(problem, "rmsnorm")) {
    rmsnorm_backward(*problem, *in);
  } else {
    softmax_backward(*problem, *in);
  }
  return nullptr;
}

constexpr const char* kOps[] = {"rmsnorm", "softmax", "add", nullptr};

const tbench_attention kAttention{.gives_lse = 1,
                                  .unsupported = &unsupported<tbench_attention_problem>,
                                  .forward_workspace_bytes = nullptr,
                                  .backward_workspace_bytes = nullptr,
                                  .saved_bytes = nullptr,
                                  .forward = &attention_forward,
                                  .backward = &attention_backward};

const tbench_gemm kGemm{
    .unsupported = &unsupported<tbench_gemm_problem>,
    .workspace_bytes = [](const tbench_gemm_problem* problem) { return problem->m * problem->n * 4; },
    .launch = &launch_gemm};

const tbench_kernel kKernel{.ops = kOps,
                            .unsupported = &unsupported<tbench_kernel_problem>,
                            .workspace_bytes = nullptr,
                            .saved_bytes =
                                [](const tbench_kernel_problem* problem) {
                                  return is(problem, "rmsnorm") ? problem->batch * problem->context * 8
                                                                : std::int64_t{0};
                                },
                            .forward = &kernel_forward,
                            .backward = &kernel_backward};

const tbench_plugin_description kDescription{.abi = TBENCH_PLUGIN_ABI,
                                             .bytes = sizeof(tbench_plugin_description),
                                             .name = "honest",
                                             .attention = &kAttention,
                                             .gemm = &kGemm,
                                             .kernel = &kKernel};

}  // namespace

const tbench_plugin_description* tbench_plugin(void) { return &kDescription; }
