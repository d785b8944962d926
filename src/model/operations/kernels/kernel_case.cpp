#include "tbench/model/kernel_case.hpp"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "model/operations/kernels/implementation.hpp"
#include "model/operations/kernels/verify.hpp"
#include "model/operations/operation_case.hpp"
#include "model/torch/output_checker.hpp"
#include "tbench/core/error.hpp"

namespace tbench::model {
namespace {

constexpr std::array<std::string_view, 2> kKernelPassNames{"forward", "backward"};

template <class T>
bool is_one_of(const T& value, const std::vector<T>& values) {
  return std::ranges::find(values, value) != values.end();
}

const KernelImpl& checked_kernel_impl(const KernelConfig& config) {
  if (auto reason = kernel_invalid_reason(config.op, config.pass, config.precision, config.impl)) {
    throw UsageError{std::move(*reason)};
  }
  const ModelSize& size = config.size;
  for (const std::int64_t extent :
       {size.d_model, size.d_ff, size.num_heads, size.head_dim(), config.context, config.batch}) {
    if (extent <= 0) throw UsageError{fmt::format("{}: the extent {} is not positive", config.op, extent)};
  }
  return *find_kernel_impl(config.op, config.impl);
}

class KernelCase final : public OperationCase {
 public:
  explicit KernelCase(KernelConfig config)
      : OperationCase{config.device},
        config_{std::move(config)},
        impl_{checked_kernel_impl(config_)},
        op_{kernel_ops().at(config_.op)} {}

  std::optional<std::string> unsupported_reason() const override {
    if (auto reason = device_unsupported_reason(config_.device, config_.precision)) return reason;
    if (!op_.takes_any_size && (!config_.size.has_plain_layers() || config_.size.vocab_size != kVocabSize)) {
      return fmt::format(
          "op:{} takes sizes with as many kv_heads as heads, head_dim d_model / num_heads and a "
          "vocabulary of {} alone",
          config_.op, kVocabSize);
    }
    return impl_.unsupported_reason != nullptr ? impl_.unsupported_reason(config_) : std::nullopt;
  }
  std::int64_t min_bytes() const override {
    const KernelBytes bytes = op_.bytes(config_);
    return std::max(bytes.read, bytes.written);
  }
  Work work() const override {
    const std::int64_t tokens = op_.counts_tokens ? config_.tokens() : 0;
    if (op_.flop != nullptr) return {.flop = op_.flop(config_), .tokens = tokens, .bytes = 0};
    const KernelBytes bytes = op_.bytes(config_);
    return {.flop = {}, .tokens = tokens, .bytes = bytes.read + bytes.written};
  }
  LaunchChecker* launch_checker() override { return checker_ ? &*checker_ : nullptr; }

 private:
  void do_build() override;
  Verification do_verify() override { return verify_kernel(built(operands_), op_, impl_, config_.seed); }
  std::optional<Verification> do_verify_again() override {
    Verification verdict = verify_kernel(built(operands_), op_, impl_, config_.seed + 1);
    fill_kernel_operands(built(operands_), op_, impl_, config_.seed);
    return verdict;
  }
  void enqueue() override {
    results_.clear();  // lets the allocator reuse their memory
    std::vector<at::Tensor> results = run_kernel(built(operands_), impl_);
    if (checker_) results_ = std::move(results);
  }
  [[nodiscard]] std::vector<DrawnOperand> drawn(const std::vector<at::Tensor>& tensors) const;
  [[nodiscard]] std::size_t expected_launches() const;
  [[nodiscard]] OutputChecker::Subject watched();

  KernelConfig config_;
  const KernelImpl& impl_;
  const KernelOp& op_;
  std::optional<KernelOperands> operands_;
  std::optional<OutputChecker> checker_;
  std::vector<at::Tensor> results_;  // results of the last launch, kept only for the checker
};

/// Budgets for checking hidden rows: the largest number of float64 result elements that the checker may compute over
/// all launches. Either takes about one second, on one CPU core and on a GPU. At least kMinExpectedLaunches launches
/// are checked, whatever they cost.
constexpr std::int64_t kCpuExpectedElements = std::int64_t{1} << 25;
constexpr std::int64_t kGpuExpectedElements = std::int64_t{1} << 34;
constexpr std::int64_t kMinExpectedLaunches = 8;

std::size_t KernelCase::expected_launches() const {
  std::int64_t elements = 1;
  for (const at::Tensor& result : results_) elements += result.numel();
  const std::int64_t budget = config_.device == DeviceKind::kCuda ? kGpuExpectedElements : kCpuExpectedElements;
  return static_cast<std::size_t>(std::max(kMinExpectedLaunches, budget / elements));
}

std::vector<DrawnOperand> KernelCase::drawn(const std::vector<at::Tensor>& tensors) const {
  std::vector<DrawnOperand> drawn;
  const bool are_inputs = &tensors == &operands_->inputs;
  for (const at::Tensor& tensor : tensors) {
    // A scalar operand is the gradient of a mean over the tokens.
    auto factor = static_cast<double>(tensor.dim() == 0 ? config_.tokens() : 1);
    if (are_inputs && op_.input_deviation != nullptr) factor = op_.input_deviation(config_, drawn.size());
    drawn.push_back({.values = tensor, .factor = factor, .divisor = {}, .ids = config_.size.vocab_size});
  }
  return drawn;
}

/// Returns the callbacks with which the checker draws operands and reads results. For a backward pass, `prepare` reruns
/// the forward pass before every launch, because the backward pass reads its results.
OutputChecker::Subject KernelCase::watched() {
  OutputChecker::Subject subject{
      .operands = [this] { return drawn(operands_->inputs); },
      .outputs = [this] { return results_; },
      .compare_rows =
          [this](const HiddenRows& hidden, Comparison& comparison) {
            if (hidden.order < expected_launches()) add_kernel_rows(*operands_, op_, hidden, comparison);
          },
      .compare_digests = [this](const RowDigests& sums,
                                Comparison& comparison) { add_kernel_sums(*operands_, op_, sums, comparison); },
      .compare = [this](const OutputChecker::Tensors& outputs) { return compare_kernel(*operands_, op_, outputs); }};
  if (config_.pass == KernelPass::kForward) return subject;
  subject.operands = [this] { return drawn(operands_->gradients); };
  subject.prepared = [this] { return drawn(operands_->inputs); };
  subject.prepare = [this] {
    operands_->saved.clear();
    if (impl_.prepare != nullptr) impl_.prepare(*operands_);
  };
  return subject;
}

void KernelCase::do_build() {
  operands_.reset();
  KernelOperands operands{.config = config_, .inputs = {}, .gradients = {}, .saved = {}};
  const at::NoGradGuard no_grad;
  op_.fill(operands);
  if (impl_.prepare != nullptr) impl_.prepare(operands);
  operands_ = std::move(operands);
  checker_.reset();
  if (impl_.is_watched) checker_.emplace(watched(), config_.device);
}

}  // namespace

std::string_view to_string(KernelPass pass) { return kKernelPassNames.at(static_cast<std::size_t>(pass)); }

std::optional<KernelPass> parse_kernel_pass(std::string_view text) {
  const auto found = std::ranges::find(kKernelPassNames, text);
  if (found == kKernelPassNames.end()) return std::nullopt;
  return static_cast<KernelPass>(found - kKernelPassNames.begin());
}

std::string kernel_ceiling(const KernelConfig& config) {
  if (has_products(config.op)) return fmt::format("gemm_{}", to_string(config.precision));
  return kernel_ceiling(kernel_bytes(config));
}

std::string kernel_ceiling(const KernelBytes& bytes) {
  constexpr double kOneWay = 0.75;
  const double read_share = static_cast<double>(bytes.read) / static_cast<double>(bytes.read + bytes.written);
  if (read_share > kOneWay) return "read";
  return 1 - read_share > kOneWay ? "write" : "copy";
}

std::optional<std::string> kernel_invalid_reason(std::string_view op, KernelPass pass, Precision precision,
                                                 std::string_view impl) {
  const KernelOp* const known = kernel_ops().find(op);
  if (known == nullptr) return kernel_ops().unknown(op);
  if (!is_one_of(pass, known->passes)) {
    return fmt::format("op:{} has no pass:{}: {}", op, to_string(pass), known->pass_refusal);
  }
  if (precision == Precision::kTf32) return "precision:tf32 applies to matrix products only: use fp32, bf16 or fp16";
  if (!is_one_of(precision, known->precisions)) {
    return fmt::format("op:{} has no precision:{}: {}", op, to_string(precision), known->precision_refusal);
  }
  if (known->impls.find(impl) == nullptr) {
    return fmt::format("op:{} has no impl:{}: expected one of {}", op, impl, fmt::join(known->impls.names(), ", "));
  }
  return std::nullopt;
}

KernelVariants kernel_variants(std::string_view op) {
  const KernelOp& known = kernel_ops().at(op);
  return {.passes = known.passes,
          .precisions = known.precisions,
          .impls = known.impls.names(),
          .counts_tokens = known.counts_tokens};
}

bool has_products(std::string_view op) { return kernel_ops().at(op).flop != nullptr; }

KernelBytes kernel_bytes(const KernelConfig& config) { return kernel_ops().at(config.op).bytes(config); }

std::unique_ptr<Case> make_kernel_case(KernelConfig config) { return std::make_unique<KernelCase>(std::move(config)); }

}  // namespace tbench::model
