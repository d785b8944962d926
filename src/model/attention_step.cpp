#include "tbench/model/attention_step.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>
#include <utility>

#include "tbench/core/error.hpp"
#include "tbench/model/attention/implementation.hpp"
#include "tbench/model/attention/runner.hpp"
#include "tbench/model/attention/verify.hpp"
#include "tbench/model/out_of_memory.hpp"

namespace tbench::model {
namespace {

constexpr std::int64_t kFloatElementBytes = 4;
constexpr std::int64_t kShortElementBytes = 2;

std::int64_t element_bytes(Precision precision) {
  return precision == Precision::kFp32 || precision == Precision::kTf32 ? kFloatElementBytes : kShortElementBytes;
}

const AttentionImpl& checked_attention_impl(const AttentionStepConfig& config) {
  const AttentionImpl* impl = find_attention_impl(config.impl);
  if (impl == nullptr) {
    throw UsageError{
        fmt::format("impl:{}: unknown; expected one of {}", config.impl, fmt::join(attention_impl_names(), ", "))};
  }
  const AttentionShape& shape = config.shape;
  for (const std::int64_t extent : {shape.batch, shape.heads, shape.seq_q, shape.seq_kv, shape.head_dim}) {
    if (extent <= 0) throw UsageError{fmt::format("attention: the extent {} is not positive", extent)};
  }
  if (shape.causal && shape.seq_q != shape.seq_kv) {
    throw UsageError{
        fmt::format("attention: a causal mask needs seq_q == seq_kv, not {} and {}", shape.seq_q, shape.seq_kv)};
  }
  return *impl;
}

}  // namespace

class AttentionStep::Impl {
 public:
  explicit Impl(AttentionStepConfig config_in) : config{std::move(config_in)}, impl{checked_attention_impl(config)} {}

  /// The runner, or an explanation for a caller that forgot build().
  AttentionRunner& built() {
    if (!runner) throw std::logic_error{"AttentionStep: build() must come first"};
    return *runner;
  }

  AttentionStepConfig config;
  const AttentionImpl& impl;
  std::optional<AttentionRunner> runner;
};

AttentionStep::AttentionStep(AttentionStepConfig config) : impl_{std::make_unique<Impl>(std::move(config))} {}
AttentionStep::~AttentionStep() = default;

std::optional<std::string> AttentionStep::unsupported_reason() const {
  const AttentionStepConfig& config = impl_->config;
  if (auto reason = device_unsupported_reason(config.device, config.precision)) return reason;
  if (config.deterministic && !impl_->impl.has_deterministic_mode) {
    return fmt::format("{} has no deterministic mode to choose", config.impl);
  }
  return impl_->impl.unsupported_reason != nullptr ? impl_->impl.unsupported_reason(config) : std::nullopt;
}

std::int64_t AttentionStep::least_bytes() const {
  const AttentionShape& shape = impl_->config.shape;
  const std::int64_t element = element_bytes(impl_->config.precision);
  const std::int64_t scores = shape.batch * shape.heads * shape.seq_q * shape.seq_kv * element;
  return attention_least_bytes(shape, impl_->config.pass, element) + impl_->impl.score_matrices * scores;
}

std::string_view AttentionStep::kernel_mark() const { return impl_->impl.kernel_mark; }

void AttentionStep::build() {
  if (impl_->config.device == DeviceKind::kCuda) observe_cuda_out_of_memory();
  impl_->runner.reset();
  with_out_of_memory_translated([this] { impl_->runner.emplace(impl_->config, impl_->impl); });
}

Verification AttentionStep::verify() {
  Verification result;
  with_out_of_memory_translated([&] { result = verify_attention(impl_->built()); });
  return result;
}

void AttentionStep::launch(const std::function<void()>& phase_end) {
  with_out_of_memory_translated([&] { impl_->built().step(phase_end); });
}

std::map<std::string, std::int64_t> AttentionStep::memory_split(std::int64_t allocated_peak) const {
  const AttentionRunner& runner = impl_->built();
  std::map<std::string, std::int64_t> split{{"inputs", runner.input_bytes()}};
  if (runner.held_bytes()) split["held"] = *runner.held_bytes();
  std::int64_t rest = allocated_peak;
  for (const auto& [name, bytes] : split) rest -= bytes;
  split["other"] = rest;
  return split;
}

std::map<std::string, double> AttentionStep::counters() {
  const std::optional<std::int64_t> held = impl_->built().held_bytes();
  if (!held) return {};
  return {{"held_bytes", static_cast<double>(*held)}};
}

}  // namespace tbench::model
