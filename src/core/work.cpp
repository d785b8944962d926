#include "tbench/core/work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace tbench {
namespace {

// The FLOP of the backward pass divided by the FLOP of the forward pass: five products of the same size instead of two
// (Dao, arXiv:2307.08691, section 4.1).
constexpr double kAttentionBackwardRatio = 2.5;
constexpr double kMinAttentionBackwardRatio = 2.0;  // if the scores are kept instead of computed again

/// The dense FLOP per SM and clock cycle with float32 accumulation, without structured sparsity. A rate is 0 if the GPU
/// has no such units.
struct GpuRate {
  std::string_view model;  // whole words of the name that the driver reports
  double fp32, tf32, bf16, fp16;
  Hertz fp32_boost, tensor_boost;  // clocks of the datasheet's rates
};

// Each rate is the datasheet's TFLOP/s divided by the SM count and by the boost clock for which the datasheet gives it:
//   H100 SXM and H200 SXM: 989.4 (bf16, fp16) and 494.7 (TF32) with 132 SM at 1.83 GHz; 66.9 (fp32) at 1.98 GHz
//     (NVIDIA H100 Tensor Core GPU Architecture, v1.04, table 2; NVIDIA H200 datasheet, the same rates)
//   A100: 312, 156, 19.5 with 108 SM at 1.41 GHz (NVIDIA A100 Tensor Core GPU Architecture, table 1)
//   B200: 2,250, 1,125 with 148 SM at 1.86 GHz, 75 at 1.98 GHz; GB200: 2,500, 1,250, 80 at 2.06 and 2.11 GHz
//     (NVIDIA GB200 NVL72 and HGX B200 datasheets, which print twice the rates, with sparsity)
//   L4: 121, 60, 30.3 with 58 SM at 2.04 GHz; L40S: 362, 183, 91.6 with 142 SM at 2.52 GHz (NVIDIA's datasheets, dense)
//   T4: 65 (fp16), 8.1 (fp32) with 40 SM at 1.59 GHz (NVIDIA Turing GPU Architecture; T4 datasheet)
//   RTX 4090: 165.2, 82.6, 82.6 with 128 SM at 2.52 GHz (NVIDIA Ada GPU Architecture, v2.02, appendix A)
//   RTX 5090: 209.5, 104.8, 104.8 with 170 SM at 2.407 GHz (NVIDIA RTX Blackwell GPU Architecture, v1.1, appendix A)
constexpr std::array kGpuRates{
    GpuRate{"NVIDIA H200", 256, 2048, 4096, 4096, {1.98e9}, {1.83e9}},
    GpuRate{"NVIDIA H100 80GB HBM3", 256, 2048, 4096, 4096, {1.98e9}, {1.83e9}},
    GpuRate{"NVIDIA B200", 256, 4096, 8192, 8192, {1.98e9}, {1.86e9}},
    GpuRate{"NVIDIA GB200", 256, 4096, 8192, 8192, {2.11e9}, {2.06e9}},
    GpuRate{"NVIDIA A100", 128, 1024, 2048, 2048, {1.41e9}, {1.41e9}},
    GpuRate{"NVIDIA L4", 256, 512, 1024, 1024, {2.04e9}, {2.04e9}},
    GpuRate{"NVIDIA L40S", 256, 512, 1024, 1024, {2.52e9}, {2.52e9}},
    GpuRate{"Tesla T4", 128, 0, 0, 1024, {1.59e9}, {1.59e9}},
    GpuRate{"NVIDIA GeForce RTX 4090", 256, 256, 512, 512, {2.52e9}, {2.52e9}},
    GpuRate{"NVIDIA GeForce RTX 5090", 256, 256, 512, 512, {2.407e9}, {2.407e9}},
};

/// Returns whether the GPU is of the model. "NVIDIA A100-SXM4-80GB" is an A100, but an L40 is not an L4.
bool is_model(std::string_view gpu_name, std::string_view model) {
  const std::size_t at = gpu_name.find(model);
  if (at == std::string_view::npos) return false;
  const std::size_t end = at + model.size();
  return end == gpu_name.size() || gpu_name[end] == ' ' || gpu_name[end] == '-';
}

double rate_of(const GpuRate& gpu, Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return gpu.fp32;
    case Precision::kTf32:
      return gpu.tf32;
    case Precision::kBf16:
      return gpu.bf16;
    case Precision::kFp16:
      return gpu.fp16;
  }
  return 0;
}

/// Returns the GPU's entry, or null if the table has none.
const GpuRate* find_gpu(std::string_view gpu_name) {
  const auto* const found =
      std::ranges::find_if(kGpuRates, [&](const GpuRate& gpu) { return is_model(gpu_name, gpu.model); });
  return found == kGpuRates.end() ? nullptr : found;
}

}  // namespace

Flop model_flop(const Work& work) { return work.min_flop.value_or(work.flop); }

CeilingNumerator ceiling_numerator(const Work& work) {
  if (work.bytes > 0) return {.value = static_cast<double>(work.bytes), .is_of_bytes = true};
  return {.value = model_flop(work).value, .is_of_bytes = false};
}

Flop attention_forward_flop(const AttentionShape& shape) {
  if (shape.batch <= 0 || shape.heads <= 0 || shape.seq_q <= 0 || shape.seq_kv <= 0 || shape.head_dim <= 0) {
    throw std::invalid_argument{fmt::format(
        "attention_forward_flop: extents must be positive: batch {}, heads {}, seq_q {}, seq_kv {}, head_dim {}",
        shape.batch, shape.heads, shape.seq_q, shape.seq_kv, shape.head_dim)};
  }
  if (shape.causal && shape.seq_q != shape.seq_kv) {
    throw std::invalid_argument{fmt::format(
        "attention_forward_flop: a causal mask needs seq_q == seq_kv, not {} and {}", shape.seq_q, shape.seq_kv)};
  }
  const double full = 4.0 * static_cast<double>(shape.batch * shape.heads) * static_cast<double>(shape.seq_q) *
                      static_cast<double>(shape.seq_kv) * static_cast<double>(shape.head_dim);
  return Flop{shape.causal ? full / 2 : full};
}

Work attention_work(const AttentionShape& shape, AttentionPass pass) {
  const Flop forward = attention_forward_flop(shape);
  const Flop backward = forward * kAttentionBackwardRatio;
  const Flop min_backward = forward * kMinAttentionBackwardRatio;
  const std::int64_t tokens = shape.batch * shape.seq_q;
  switch (pass) {
    case AttentionPass::kForward:
      return {.flop = forward, .tokens = tokens};
    case AttentionPass::kBackward:
      return {.flop = backward, .min_flop = min_backward, .tokens = tokens};
    case AttentionPass::kForwardBackward:
      break;
  }
  return {.flop = forward + backward, .min_flop = forward + min_backward, .tokens = tokens};
}

std::int64_t attention_min_bytes(const AttentionShape& shape, AttentionPass pass, std::int64_t element_bytes) {
  const std::int64_t queries = shape.batch * shape.heads * shape.seq_q * shape.head_dim;      // q, output
  const std::int64_t keys = shape.batch * shape.key_heads() * shape.seq_kv * shape.head_dim;  // k, v
  const std::int64_t forward = 2 * (queries + keys) * element_bytes;
  return pass == AttentionPass::kForward ? forward : 2 * forward;
}

Work model_step_work(const ModelSize& size, std::int64_t context, std::int64_t batch, Pass pass) {
  if (size.num_heads <= 0 || size.d_ff <= 0 || size.num_layers <= 0) {
    throw std::invalid_argument{fmt::format("model_step_work: num_heads {}, d_ff {} and num_layers {} must be positive",
                                            size.num_heads, size.d_ff, size.num_layers)};
  }
  const AttentionShape attention{.batch = batch,
                                 .heads = size.num_heads,
                                 .seq_q = context,
                                 .seq_kv = context,
                                 .head_dim = size.head_dim(),
                                 .causal = true};
  const Flop attention_flop = attention_forward_flop(attention) * static_cast<double>(size.num_layers);
  const std::int64_t tokens = batch * context;
  const std::int64_t weights = size.num_layers * layer_matrix_elements(size) + size.vocab_size * size.d_model;
  const Flop dense{2.0 * static_cast<double>(tokens) * static_cast<double>(weights)};
  const Flop forward = dense + attention_flop;
  if (pass == Pass::kForward) return {.flop = forward, .tokens = tokens};
  const auto with_backward = [&](double attention_ratio) {
    return forward + dense * 2.0 + attention_flop * attention_ratio;
  };
  return {.flop = with_backward(kAttentionBackwardRatio),
          .min_flop = with_backward(kMinAttentionBackwardRatio),
          .tokens = tokens};
}

std::int64_t model_min_bytes(const ModelSize& size, Pass pass) {
  constexpr std::int64_t kFloatBytes = 4;
  std::int64_t copies = 1;                    // parameters
  if (pass != Pass::kForward) copies += 1;    // gradients
  if (pass == Pass::kTrainStep) copies += 2;  // AdamW's first and second moments
  return copies * kFloatBytes * parameter_count(size);
}

double bus_factor(CollectiveOp op, std::int64_t ranks) {
  const auto n = static_cast<double>(ranks);
  switch (op) {
    case CollectiveOp::kAllReduce:
      return 2.0 * (n - 1.0) / n;
    case CollectiveOp::kAllGather:
    case CollectiveOp::kReduceScatter:
    case CollectiveOp::kAllToAll:
      return (n - 1.0) / n;
    case CollectiveOp::kBroadcast:
    case CollectiveOp::kSendRecv:
      return 1.0;
  }
  throw std::invalid_argument{"not a CollectiveOp"};
}

std::optional<double> datasheet_flop_per_sm_clock(std::string_view gpu_name, Precision precision) {
  const GpuRate* const gpu = find_gpu(gpu_name);
  const double rate = gpu != nullptr ? rate_of(*gpu, precision) : 0;
  return rate > 0 ? std::optional{rate} : std::nullopt;
}

std::optional<FlopPerSecond> datasheet_peak(std::string_view gpu_name, std::int64_t sm_count, Precision precision) {
  const auto per_sm_clock = datasheet_flop_per_sm_clock(gpu_name, precision);
  if (!per_sm_clock) return std::nullopt;
  const GpuRate& gpu = *find_gpu(gpu_name);
  const Hertz boost = precision == Precision::kFp32 ? gpu.fp32_boost : gpu.tensor_boost;
  return FlopPerSecond{*per_sm_clock * static_cast<double>(sm_count) * boost.value};
}

}  // namespace tbench
