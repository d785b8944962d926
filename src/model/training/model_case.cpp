#include "tbench/model/model_case.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "model/torch/compare.hpp"
#include "model/torch/torch_case.hpp"
#include "model/training/graphed_step.hpp"
#include "model/training/model_impl.hpp"
#include "model/training/trainer.hpp"
#include "model/training/trainer_memory.hpp"
#include "model/training/verify_replays.hpp"
#include "model/training/verify_trainer.hpp"
#include "tbench/core/error.hpp"

namespace tbench::model {
namespace {

class ModelCase final : public TorchCase {
 public:
  explicit ModelCase(ModelConfig config)
      : TorchCase{config.device}, config_{std::move(config)}, impl_{checked_model_impl(config_)} {}

  std::optional<std::string> unsupported_reason() const override {
    if (auto reason = device_unsupported_reason(config_.device, config_.precision)) return reason;
    if (config_.exec == Execution::kGraph && config_.device == DeviceKind::kCpu) {
      return "exec:graph: CUDA graphs run on GPUs only";
    }
    return impl_.unsupported_reason != nullptr ? impl_.unsupported_reason(config_) : std::nullopt;
  }
  std::int64_t min_bytes() const override { return model_min_bytes(config_.size, config_.pass); }
  std::span<const std::string_view> phases() const override {
    static constexpr std::array<std::string_view, 3> kPhases{"forward", "backward", "optimizer"};
    return std::span{kPhases}.first(static_cast<std::size_t>(config_.pass) + 1);
  }
  Work work() const override {
    Work work = model_step_work(config_.size, config_.context, config_.batch, config_.pass);
    if (config_.pass == Pass::kTrainStep) work.optimizer = optimizer_name(optimizer_variant(config_, impl_.optimizer));
    return work;
  }
  std::vector<LiveTensor> live_tensors() const override { return live_tensors_of(built(trainer_), nullptr); }
  std::map<std::string, double> counters() override;
  bool discard_recording() override {
    if (!graphed_) return false;
    graphed_->discard();
    return true;
  }

 private:
  void do_build() override {
    graphed_.reset();
    trainer_.reset();
    trainer_.emplace(config_, impl_);
    if (config_.exec == Execution::kGraph) graphed_.emplace(*trainer_);
  }
  Verification do_verify() override {
    Verification result;
    guarded(built(trainer_), [&] {
      if (graphed_) {
        result = verify_replays(*trainer_, *graphed_);
        if (!result.passed) return;
        result = worse_of(std::move(result), verify_step(config_.seed));
      } else {
        result = verify_step(config_.seed);
      }
    });
    return result;
  }
  std::optional<Verification> do_verify_again() override {
    std::optional<Verification> result;
    guarded(built(trainer_), [&] { result = verify_step(config_.seed + 1); });
    return result;
  }
  void do_launch(PhaseMarker& marker) override {
    guarded(built(trainer_), [&] { graphed_ ? graphed_->launch(&marker) : trainer_->step(&marker); });
  }

  Verification verify_step(std::uint64_t seed) {
    if (!graphed_) return verify_trainer(*trainer_, seed);
    return verify_trainer(*trainer_, seed, [&](StepOutputs& outputs) { graphed_->run(outputs); });
  }

  ModelConfig config_;
  const ModelImpl& impl_;
  std::optional<Trainer> trainer_;
  std::optional<GraphedStep> graphed_;  // refers to trainer_
};

std::map<std::string, double> ModelCase::counters() {
  Trainer& trainer = built(trainer_);
  std::map<std::string, double> counters;
  if (const std::optional<HeldBytes> planned = trainer.planned_bytes()) {
    counters["estimated_bytes"] = static_cast<double>(planned->total() + trainer.held_bytes());
  }
  if (graphed_) counters["capture_ms"] = graphed_->capture_time().value * 1e3;
  if (trainer.scaler() != nullptr && config_.pass == Pass::kTrainStep) {
    counters["skipped_steps"] = trainer.scaler()->skipped_steps();
    counters["loss_scale"] = trainer.scaler()->scale();
  }
  return counters;
}

}  // namespace

std::unique_ptr<Case> make_model_case(ModelConfig config) { return std::make_unique<ModelCase>(std::move(config)); }

}  // namespace tbench::model
