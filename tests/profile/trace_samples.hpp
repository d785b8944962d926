// Makes traces event by event.
#pragma once

#include <algorithm>
#include <string>

#include "tbench/profile/trace.hpp"

namespace tbench::profile {

/// Adds names as they occur. Threads 0 and 1 belong to process 0.
class TraceWriter {
 public:
  TraceWriter() { trace_.threads = {{.process = 0, .id = 100}, {.process = 0, .id = 101}}; }

  TraceWriter& call(std::int64_t start, std::int64_t end, std::uint32_t correlation, Index thread = 0,
                    const std::string& name = "cudaLaunchKernel") {
    trace_.calls.push_back(
        {.start_ns = start, .end_ns = end, .name = index(name), .thread = thread, .correlation = correlation});
    return *this;
  }
  TraceWriter& kernel(std::int64_t start, std::int64_t end, std::uint32_t correlation, const std::string& name = "k",
                      std::uint32_t stream = 7, std::uint16_t device = 0) {
    trace_.operations.push_back({.start_ns = start,
                                 .end_ns = end,
                                 .name = index(name),
                                 .correlation = correlation,
                                 .stream = stream,
                                 .device = device,
                                 .kind = OperationKind::kKernel});
    return *this;
  }
  TraceWriter& copy(std::int64_t start, std::int64_t end, std::uint32_t correlation, std::int64_t bytes) {
    trace_.operations.push_back({.start_ns = start,
                                 .end_ns = end,
                                 .bytes = bytes,
                                 .name = index("Memcpy HtoD"),
                                 .correlation = correlation,
                                 .stream = 8,
                                 .kind = OperationKind::kMemcpy});
    return *this;
  }
  TraceWriter& range(std::int64_t start, std::int64_t end, const std::string& name, Index thread = 0) {
    trace_.ranges.push_back({.start_ns = start, .end_ns = end, .name = index(name), .thread = thread});
    return *this;
  }

  TraceWriter& start_range(std::int64_t start, std::int64_t end, const std::string& name, Index thread = 0) {
    range(start, end, name, thread);
    trace_.ranges.back().is_of_process = true;
    return *this;
  }

  /// Returns the trace with the operations in order.
  [[nodiscard]] Trace take() {
    std::ranges::stable_sort(trace_.operations, {}, &Operation::start_ns);
    return trace_;
  }

 private:
  Index index(const std::string& name) {
    const auto found = std::ranges::find(trace_.names, name);
    if (found == trace_.names.end()) {
      trace_.names.push_back(name);
      return static_cast<Index>(trace_.names.size() - 1);
    }
    return static_cast<Index>(found - trace_.names.begin());
  }

  Trace trace_;
};

/// One step, in ns. Host, thread 0:
///
///   FORWARD 0..100 { layer.0 5..45 { attention 10..30 }, layer.1 50..90 }, OPTIMIZER 110..150; calls at
///   12 (kernel 1), 20 (kernel 2), 35 (kernel 3), 55 (kernel 4), 115 (kernel 5), 130 (copy 6), 160 (kernel 7, no range)
///
/// Device: 1 nvjet_a 20..50 | 2 softmax 50..60 | 3 nvjet_a 62..82 | 4 nvjet_a 100..140 | 5 adam 150..170 |
///         6 copy of 4,000 bytes 160..180 on another stream | 7 mystery 200..210 | 8 mystery 215..220, which no call
///         launched
inline Trace one_step() {
  const std::string adam = "multi_tensor_apply_kernel<FusedAdam>";
  const std::string softmax = "void softmax_warp_forward<float, float, float, 9, false, false>(float*)";
  return TraceWriter{}
      .range(0, 100, "FORWARD")
      .range(5, 45, "layer.0")
      .range(10, 30, "attention")
      .range(50, 90, "layer.1")
      .range(110, 150, "OPTIMIZER")
      .call(12, 15, 1)
      .call(20, 24, 2)
      .call(35, 38, 3)
      .call(55, 60, 4)
      .call(115, 119, 5)
      .call(130, 140, 6, 0, "cudaMemcpyAsync")
      .call(160, 165, 7)
      .kernel(20, 50, 1, "nvjet_a")
      .kernel(50, 60, 2, softmax)
      .kernel(62, 82, 3, "nvjet_a")
      .kernel(100, 140, 4, "nvjet_a")
      .kernel(150, 170, 5, adam)
      .copy(160, 180, 6, 4000)
      .kernel(200, 210, 7, "mystery")
      .kernel(215, 220, 8, "mystery")
      .take();
}

/// Forward of one layer, in ns. Call N launches kernel N, and every launch is in time.
///
/// Host, thread 0:
///   FORWARD 0..200 { layer.0 10..150 { norm 12..18, attention 20..100 { .qkv 22..30, .scores 32..50, .softmax 52..60,
///   .context 62..70, .out_proj 72..80 }, ffn 120..140 } }, BACKWARD 210..300
///
/// Device: 1 norm 100..110 | 2 qkv 110..150 | 3 scores 150..180 | 4 their scale 180..190 | 5 softmax 200..215 |
///         6 its exp 215..220 | 7 context 220..240 | 8 out_proj 240..260 | 9 residual 260..264 | 10 ffn 270..300 |
///         11 backward 350..400
inline Trace one_layer() {
  const std::string softmax = "void softmax_warp_forward<float, float, float, 9, false, false>(float*)";
  const auto elementwise = [](const std::string& functor) {
    return "void at::native::vectorized_elementwise_kernel<4, at::native::" + functor + ">(int)";
  };
  return TraceWriter{}
      .range(0, 200, "FORWARD")
      .range(10, 150, "layer.0")
      .range(12, 18, "norm")
      .range(20, 100, "attention")
      .range(22, 30, "attention.qkv")
      .range(32, 50, "attention.scores")
      .range(52, 60, "attention.softmax")
      .range(62, 70, "attention.context")
      .range(72, 80, "attention.out_proj")
      .range(120, 140, "ffn")
      .range(210, 300, "BACKWARD")
      .call(13, 14, 1)
      .call(24, 25, 2)
      .call(33, 34, 3)
      .call(36, 37, 4)
      .call(53, 54, 5)
      .call(55, 56, 6)
      .call(63, 64, 7)
      .call(73, 74, 8)
      .call(110, 111, 9)
      .call(125, 126, 10)
      .call(220, 221, 11)
      .kernel(100, 110, 1, "void at::native::vectorized_layer_norm_kernel<float, float>(int)")
      .kernel(110, 150, 2, "nvjet_a")
      .kernel(150, 180, 3, "nvjet_a")
      .kernel(180, 190, 4, elementwise("MulFunctor<float>"))
      .kernel(200, 215, 5, softmax)
      .kernel(215, 220, 6, elementwise("exp_kernel_cuda"))
      .kernel(220, 240, 7, "nvjet_b")
      .kernel(240, 260, 8, "nvjet_a")
      .kernel(260, 264, 9, elementwise("CUDAFunctor_add<float>"))
      .kernel(270, 300, 10, "nvjet_a")
      .kernel(350, 400, 11, "nvjet_b")
      .take();
}

/// Returns the trace with microseconds instead of nanoseconds.
inline Trace in_microseconds(Trace trace) {
  const auto scale = [](auto& events) {
    for (auto& event : events) {
      event.start_ns *= 1000;
      event.end_ns *= 1000;
    }
  };
  scale(trace.operations);
  scale(trace.calls);
  scale(trace.ranges);
  return trace;
}

}  // namespace tbench::profile
