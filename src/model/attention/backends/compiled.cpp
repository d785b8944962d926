// `compiled`: the operations of `naive`, compiled ahead of time by PyTorch's inductor (tools/compile_attention.py) and
// loaded as packages. As with torch.compile, there is one package per graph: the forward pass alone and, for training,
// a forward pass that keeps the probabilities, and its backward.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "model/attention/implementation.hpp"
#include "model/compiled/packages.hpp"

namespace tbench::model::backends::compiled {
namespace {

constexpr std::int64_t kLengthUnit = 8;  // sequence lengths are multiples of it, as in tools/compile_attention.py
constexpr std::int64_t kMinLength = 16;
constexpr std::int64_t kMaxLength = 65'536;
constexpr std::int64_t kMinPairs = 2;

/// The graphs that prepare() loads; null if the pass does not need them.
struct CompiledGraphs {
  std::unique_ptr<CompiledGraph> forward, training, backward;
};

std::string package_path(const AttentionConfig& config, const std::string& part) {
  return fmt::format("{}/attention_{}_{}_d{}_causal{}_{}.pt2", config.packages, part, package_machine(config.device),
                     config.shape.head_dim, config.shape.causal ? 1 : 0, package_precision(config.precision));
}

/// Returns the command that makes a missing package.
std::string package_command(const AttentionConfig& config) {
  return fmt::format("tools/compile_attention.py --out {} --head-dim {} --causal {} --precision {}{}",
                     config.packages.empty() ? "DIR" : config.packages, config.shape.head_dim,
                     config.shape.causal ? 1 : 0, package_precision(config.precision),
                     config.device == DeviceKind::kCpu ? " --device cpu" : "");
}

std::optional<std::string> unsupported_reason(const AttentionConfig& config) {
  const AttentionShape& shape = config.shape;
  if (config.precision == Precision::kFp16) return "packages are made for float32 and bfloat16";
  if (shape.seq_q != shape.seq_kv) return "packages need as many keys as queries";
  if (shape.seq_q % kLengthUnit != 0 || shape.seq_q < kMinLength || shape.seq_q > kMaxLength) {
    return fmt::format("packages take sequences of {} to {} tokens in steps of {}", kMinLength, kMaxLength,
                       kLengthUnit);
  }
  if (shape.batch * shape.heads < kMinPairs) return "packages need at least two heads or sequences";
  if (config.packages.empty()) {
    return fmt::format("no packages: {}, then --tb_packages=DIR", package_command(config));
  }
  const bool trains = config.pass != AttentionPass::kForward;
  for (const char* const part : {trains ? "training" : "forward", trains ? "backward" : "forward"}) {
    const std::string path = package_path(config, part);
    if (!std::filesystem::exists(path)) return fmt::format("no package '{}': {}", path, package_command(config));
  }
  return std::nullopt;
}

void prepare(AttentionOperands& operands) {
  const AttentionConfig& config = operands.config;
  const auto graphs = std::make_shared<CompiledGraphs>();
  if (config.pass == AttentionPass::kForward) {
    graphs->forward = load_package(package_path(config, "forward"));
  } else {
    graphs->training = load_package(package_path(config, "training"));
    graphs->backward = load_package(package_path(config, "backward"));
  }
  operands.made = graphs;
}

/// Convert from [batch, heads, seq, head_dim] to [pairs, seq, head_dim], and back.
at::Tensor pairs_of(const at::Tensor& tensor) { return tensor.flatten(0, 1); }
at::Tensor heads_of(const at::Tensor& pairs, const AttentionOperands& operands) {
  return pairs.unflatten(0, {operands.config.shape.batch, operands.config.shape.heads});
}

AttentionState forward(const AttentionOperands& operands, bool for_backward) {
  const auto& graphs = *static_cast<const CompiledGraphs*>(operands.made.get());
  const std::vector<at::Tensor> inputs{pairs_of(operands.q), pairs_of(operands.k), pairs_of(operands.v)};
  if (!for_backward) return {.output = heads_of(graphs.forward->run(inputs)[0], operands), .lse = {}, .saved = {}};
  const std::vector<at::Tensor> outputs = graphs.training->run(inputs);
  return {.output = heads_of(outputs[0], operands), .lse = {}, .saved = {outputs[1]}};
}

AttentionGradients backward(const AttentionOperands& operands, const AttentionState& state, bool /*keep_state*/) {
  const auto& graphs = *static_cast<const CompiledGraphs*>(operands.made.get());
  const std::vector<at::Tensor> gradients = graphs.backward->run(
      {pairs_of(operands.q), pairs_of(operands.k), pairs_of(operands.v), state.saved[0], pairs_of(operands.grad_o)});
  return {.dq = heads_of(gradients[0], operands),
          .dk = heads_of(gradients[1], operands),
          .dv = heads_of(gradients[2], operands)};
}

TBENCH_REGISTER(AttentionImpl, {.name = "compiled",
                                .order = 20,
                                .precisions = {Precision::kFp32, Precision::kTf32, Precision::kBf16},
                                .has_deterministic_mode = false,
                                .score_matrices = 1,
                                .kernel_mark = {},
                                .unsupported_reason = &unsupported_reason,
                                .prepare = &prepare,
                                .forward = &forward,
                                .backward = &backward});

}  // namespace
}  // namespace tbench::model::backends::compiled
