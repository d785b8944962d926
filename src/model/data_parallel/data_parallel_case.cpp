#include "tbench/model/data_parallel_case.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include "model/data_parallel/gradient_syncs.hpp"
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

DataParallelConfig checked_parallel_config(DataParallelConfig config, const ranks::Group& group) {
  if (config.model.precision == Precision::kFp16) {
    throw UsageError{"precision:fp16: the ranks would have to agree on the steps that they skip; take bf16"};
  }
  if (has_buckets(config.strategy) && config.bucket_bytes <= 0) {
    throw UsageError{fmt::format("strategy:{}: its buckets need a size", tbench::to_string(config.strategy))};
  }
  config.model.pass = Pass::kTrainStep;
  config.model.part = {.index = group.rank(), .count = group.size()};
  return config;
}

ModelImpl parallel_impl(const DataParallelConfig& config) {
  ModelImpl impl = checked_model_impl(config.model);
  if (config.strategy == ParallelStrategy::kShardedOptimizer) impl.layout.shares = config.model.part.count;
  return impl;
}

class DataParallelCase final : public TorchCase {
 public:
  DataParallelCase(DataParallelConfig config, ranks::Group& group)
      : TorchCase{config.model.device},
        config_{checked_parallel_config(std::move(config), group)},
        group_{group},
        impl_{parallel_impl(config_)} {}

  std::optional<std::string> unsupported_reason() const override;
  std::int64_t min_bytes() const override {
    // The size of a share of the optimizer's state is not known without its layout.
    const bool is_sharded = config_.strategy == ParallelStrategy::kShardedOptimizer;
    return model_min_bytes(config_.model.size, is_sharded ? Pass::kForwardBackward : Pass::kTrainStep);
  }
  std::span<const std::string_view> phases() const override {
    static constexpr std::array<std::string_view, 3> kPhases{"forward", "backward", "optimizer"};
    return kPhases;
  }
  Work work() const override {
    Work work = model_step_work(config_.model.size, config_.model.context, config_.model.batch, config_.model.pass);
    work.tokens *= group_.size();
    work.optimizer = optimizer_name(optimizer_variant(config_.model, impl_.optimizer));
    return work;
  }
  std::vector<LiveTensor> live_tensors() const override { return live_tensors_of(built(trainer_), sync_.get()); }
  std::map<std::string, double> counters() override {
    std::map<std::string, double> counters{
        {"communication_bytes", sync_ ? static_cast<double>(sync_->step_bytes()) : 0.0}};
    if (graphed_) counters["capture_ms"] = to_milliseconds(graphed_->capture_time());
    return counters;
  }
  std::map<std::string, std::string> labels() override { return {{"backend", group_.backend()}}; }
  bool discard_recording() override {
    if (!graphed_) return false;
    graphed_->discard();
    return true;
  }

 private:
  void do_build() override {
    graphed_.reset();
    sync_.reset();
    trainer_.reset();
    trainer_.emplace(config_.model, impl_);
    sync_ = make_gradient_sync(config_.strategy, config_.bucket_bytes, *trainer_, group_);
    trainer_->synchronize_through(sync_.get());
    if (config_.model.exec == Execution::kGraph) graphed_.emplace(*trainer_);
  }
  Verification do_verify() override {
    Verification result;
    guarded(built(trainer_), [&] {
      if (graphed_) result = verify_replays(*trainer_, *graphed_);
      if (graphed_ && !result.passed) return;
      Verification step = verify_step(config_.model.seed);
      result = graphed_ ? worse_of(std::move(result), std::move(step)) : std::move(step);
    });
    return result;
  }
  std::optional<Verification> do_verify_again() override {
    std::optional<Verification> result;
    guarded(built(trainer_), [&] { result = verify_step(config_.model.seed + 1); });
    return result;
  }
  void do_launch(PhaseMarker& marker) override {
    guarded(built(trainer_), [&] { graphed_ ? graphed_->launch(&marker) : trainer_->step(&marker); });
  }

  /// Returns why the strategy does not work with the implementation or the execution mode, or nullopt.
  [[nodiscard]] std::optional<std::string> strategy_unsupported_reason() const;

  Verification verify_step(std::uint64_t seed) {
    const auto step = [&](StepOutputs& outputs) {
      graphed_ ? graphed_->run(outputs) : make_checked_step(*trainer_, outputs);
      if (sync_) sync_->show_gradients();
    };
    if (!sync_) return verify_trainer(*trainer_, seed, step);
    return verify_trainer(*trainer_, seed, step, group_);
  }

  DataParallelConfig config_;
  ranks::Group& group_;
  ModelImpl impl_;
  std::optional<Trainer> trainer_;
  std::unique_ptr<GradientSync> sync_;  // uses the trainer; null for strategy:none
  std::optional<GraphedStep> graphed_;  // uses the trainer
};

std::optional<std::string> DataParallelCase::unsupported_reason() const {
  const ModelConfig& model = config_.model;
  if (auto reason = device_unsupported_reason(model.device, model.precision)) return reason;
  if (auto reason = strategy_unsupported_reason()) return reason;
  return impl_.unsupported_reason != nullptr ? impl_.unsupported_reason(model) : std::nullopt;
}

std::optional<std::string> DataParallelCase::strategy_unsupported_reason() const {
  if (!config_.model.size.has_plain_layers()) {
    return "DataParallel predicts steps of sizes with as many kv_heads as heads, head_dim d_model / num_heads, two "
           "tables and no qk_norm";
  }
  const bool is_graph = config_.model.exec == Execution::kGraph;
  if (is_graph && config_.strategy == ParallelStrategy::kReducer) {
    return "exec:graph: strategy:reducer keeps account of its buckets on the host, which no replay does";
  }
  if (is_graph && config_.model.device == DeviceKind::kCpu) return "exec:graph: CUDA graphs run on GPUs only";
  if (impl_.make_passes == nullptr) return std::nullopt;
  switch (config_.strategy) {
    case ParallelStrategy::kOverlapped:
    case ParallelStrategy::kReducer:
      return fmt::format("strategy:{} takes gradients from autograd, which impl:{} does without",
                         tbench::to_string(config_.strategy), impl_.name);
    case ParallelStrategy::kShardedOptimizer:
      return fmt::format(
          "strategy:{}: impl:{} computes with copies of the parameters, and a rank would update those of its share "
          "alone",
          tbench::to_string(config_.strategy), impl_.name);
    case ParallelStrategy::kNone:
    case ParallelStrategy::kNaive:
    case ParallelStrategy::kFlat:
    case ParallelStrategy::kBucketed:
      return std::nullopt;
  }
  throw std::invalid_argument{"not a ParallelStrategy"};
}

}  // namespace

std::unique_ptr<Case> make_data_parallel_case(DataParallelConfig config, ranks::Group& group) {
  return std::make_unique<DataParallelCase>(std::move(config), group);
}

}  // namespace tbench::model
