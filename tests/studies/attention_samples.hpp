// Makes records whose ranges have the kernels of attention's core, with figures computed by hand.
#pragma once

#include <string>
#include <vector>

#include "kernel_study_samples.hpp"

namespace tbench::studies {

inline constexpr const char* kExpKernel =
    "vectorized_elementwise_kernel<4, at::native::exp_kernel_cuda(f)::{lambda(float)#1}>";

/// A kernel of a range, with 12 calls per step.
struct Launched {
  std::string range;
  std::string kernel_class;
  std::string name;
  double ms{};
};

/// Adds kernels of a phase, each in its range, to a record whose trace has the phase's other kernels.
inline void add_kernels(Record& record, const std::string& phase, const std::vector<Launched>& launched) {
  StepTrace& trace = *record.trace;
  for (const auto& [range, kernel_class, name, ms] : launched) {
    TracedRange& added = trace.ranges.emplace_back();
    added.path = range;
    trace.kernels.push_back(kernel(phase, kernel_class, name, 12, ms));
    trace.range_kernels.push_back(
        {.range = trace.ranges.size() - 1, .kernel = trace.kernels.size() - 1, .calls = 12, .total = {ms * kMs}});
  }
}

/// Returns a record whose forward pass has the core of attention, 8 ms, and other kernels of 8 ms.
inline Record with_core(const std::string& pass) {
  const std::string scores = "FORWARD/layer.*/attention/attention.scores";
  const std::string softmax = "FORWARD/layer.*/attention/attention.softmax";
  Record record = support::timed_record(id_of(pass), Seconds{20 * kMs});
  record.trace = StepTrace{};
  record.trace->kernels = {kernel("forward", "gemm", "projections", 48, 7.5),
                           kernel("forward", "elementwise", "exp_outside", 12, 0.5)};
  add_kernels(record, "forward",
              {{scores, "gemm", "product_a", 1},
               {scores + "/attention.mask", "elementwise", "where", 0.6},
               {scores, "memset", "Memset", 0.4},
               {softmax, "reduction", "reduce_kernel<MaxNanFunctor<float> >", 0.5},
               {softmax, "elementwise", "elementwise_kernel<CUDAFunctor_add<float> >", 0.75},
               {softmax, "elementwise", kExpKernel, 1.25},
               {softmax, "reduction", "reduce_kernel<sum_functor<float> >", 0.5},
               {softmax, "elementwise", "elementwise_kernel<DivFunctor<float> >", 1},
               {"FORWARD/layer.*/attention/attention.context", "gemm", "product_b", 2}});
  return record;
}

/// Returns a training step with the core of attention: 8 of forward's 16 ms, 12 of backward's 16 ms.
inline Record trained_with_core() {
  Record record = with_core("train_step");
  record.trace->kernels.push_back(kernel("backward", "gemm", "projections_bw", 96, 4));
  add_kernels(record, "backward",
              {{"BACKWARD/layer.*/attention/attention.context", "gemm", "product_c", 6},
               {"BACKWARD/layer.*/attention/attention.softmax", "elementwise", "mul", 3},
               {"BACKWARD/layer.*/attention/attention.softmax", "reduction", "reduce_kernel<sum_functor<long> >", 1},
               {"BACKWARD/layer.*/attention/attention.scores", "gemm", "product_d", 2}});
  return record;
}

/// Returns a forward pass whose softmax is one kernel.
inline Record with_fused_softmax(const std::string& kernel_class, const std::string& name) {
  Record record = support::timed_record(id_of("forward"), Seconds{20 * kMs});
  record.trace = StepTrace{};
  add_kernels(record, "forward",
              {{"FORWARD/layer.*/attention/attention.scores", "gemm", "product_a", 1},
               {"FORWARD/layer.*/attention/attention.softmax", kernel_class, name, 2},
               {"FORWARD/layer.*/attention/attention.context", "gemm", "product_b", 1}});
  return record;
}

}  // namespace tbench::studies
