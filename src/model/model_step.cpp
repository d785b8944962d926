#include "tbench/model/model_step.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <utility>

#include "tbench/core/error.hpp"
#include "tbench/model/device.hpp"
#include "tbench/model/model_impl.hpp"
#include "tbench/model/out_of_memory.hpp"
#include "tbench/model/trainer.hpp"
#include "tbench/model/verify_trainer.hpp"

namespace tbench::model {
namespace {

const ModelImpl& checked_impl(const ModelStepConfig& config) {
  const ModelImpl* impl = find_model_impl(config.impl);
  if (impl == nullptr) {
    throw UsageError{
        fmt::format("impl:{}: unknown; expected one of {}", config.impl, fmt::join(model_impl_names(), ", "))};
  }
  const ModelSize& size = config.size;
  for (const std::int64_t extent :
       {size.d_model, size.d_ff, size.num_layers, size.num_heads, config.context, config.batch, config.vocab_size}) {
    if (extent <= 0) throw UsageError{fmt::format("size:{}: the extent {} is not positive", size.name, extent)};
  }
  if (size.d_model % size.num_heads != 0 || size.head_dim() % 2 != 0) {
    throw UsageError{
        fmt::format("size:{}: d_model {} over {} heads is no even head_dim", size.name, size.d_model, size.num_heads)};
  }
  return *impl;
}

}  // namespace

class ModelStep::Impl {
 public:
  explicit Impl(ModelStepConfig config_in) : config{std::move(config_in)}, impl{checked_impl(config)} {}

  /// The trainer, or an explanation for a caller that forgot build().
  Trainer& built() {
    if (!trainer) throw std::logic_error{"ModelStep: build() must come first"};
    return *trainer;
  }

  /// Runs `action`; after an out-of-memory error nothing that the step made stays allocated.
  void guarded(const std::function<void()>& action) {
    try {
      with_out_of_memory_translated(action);
    } catch (...) {
      if (trainer) trainer->parameters().clear_gradients();
      throw;
    }
  }

  ModelStepConfig config;
  const ModelImpl& impl;
  std::optional<Trainer> trainer;
};

ModelStep::ModelStep(ModelStepConfig config) : impl_{std::make_unique<Impl>(std::move(config))} {}
ModelStep::~ModelStep() = default;

std::optional<std::string> ModelStep::unsupported_reason() const {
  if (auto reason = device_unsupported_reason(impl_->config.device, impl_->config.precision)) return reason;
  return impl_->impl.unsupported_reason != nullptr ? impl_->impl.unsupported_reason(impl_->config) : std::nullopt;
}

void ModelStep::build() {
  if (impl_->config.device == DeviceKind::kCuda) observe_cuda_out_of_memory();
  impl_->trainer.reset();
  impl_->guarded([this] { impl_->trainer.emplace(impl_->config, impl_->impl); });
}

Verification ModelStep::verify() {
  Verification result;
  impl_->guarded([&] { result = verify_trainer(impl_->built()); });
  return result;
}

void ModelStep::launch(const PhaseEnd& phase_end) {
  impl_->guarded([&] { impl_->built().step(phase_end); });
}

std::map<std::string, std::int64_t> ModelStep::memory_split(std::int64_t allocated_peak) const {
  Trainer& trainer = impl_->built();
  std::map<std::string, std::int64_t> split{{"parameters", trainer.parameters().bytes()}};
  if (impl_->config.pass != Pass::kForward) split["gradients"] = trainer.parameters().bytes();
  if (trainer.optimizer() != nullptr) split["optimizer_state"] = trainer.optimizer()->state_bytes();
  std::int64_t rest = allocated_peak;
  for (const auto& [name, bytes] : split) rest -= bytes;
  split["activations"] = rest;
  return split;
}

std::map<std::string, double> ModelStep::counters() {
  Trainer& trainer = impl_->built();
  if (trainer.scaler() == nullptr || impl_->config.pass != Pass::kTrainStep) return {};
  return {{"skipped_steps", trainer.scaler()->skipped_steps()}, {"loss_scale", trainer.scaler()->scale()}};
}

}  // namespace tbench::model
