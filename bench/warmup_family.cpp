// The Warmup family: the first steps of a fresh process, as a measurement sees them that warms up too little. A case is
// one of the Model family with exact counts of warm-up and timed steps.
#include <memory>
#include <utility>
#include <vector>

#include "families.hpp"

namespace tbench::bench {
namespace {

using Values = std::vector<std::string>;

/// A model's case that is checked after it was timed: a check before would be a warm-up.
class WarmupCase final : public measure::Case {
 public:
  explicit WarmupCase(std::unique_ptr<measure::Case> model) : model_{std::move(model)} {}

  std::optional<std::string> unsupported_reason() const override { return model_->unsupported_reason(); }
  std::int64_t least_bytes() const override { return model_->least_bytes(); }
  void build() override { model_->build(); }
  /// Of the weights as they were before the timed steps.
  Verification verify() override {
    model_->build();
    return model_->verify();
  }
  bool verifies_last() const override { return true; }
  std::span<const std::string_view> phases() const override { return model_->phases(); }
  void launch(measure::PhaseMarker& marker) override { model_->launch(marker); }
  Work work() const override { return model_->work(); }
  std::map<std::string, std::int64_t> memory_split(std::int64_t allocated_peak) const override {
    return model_->memory_split(allocated_peak);
  }
  std::map<std::string, double> counters() override { return model_->counters(); }

 private:
  std::unique_ptr<measure::Case> model_;
};

std::vector<Axis> axes(Values size, std::string ctx, Values pass, Values steps, Values warmup) {
  return {{"size", std::move(size)},   {"ctx", {std::move(ctx)}},    {"batch", {"4"}},
          {"pass", std::move(pass)},   {"precision", {"fp32"}},      {"impl", {"eager"}},
          {"steps", std::move(steps)}, {"warmup", std::move(warmup)}};
}

std::vector<CaseTable> tables() {
  return {
      {"first_steps", Suite::kSmoke, true, axes({"tiny"}, "64", {"train_step"}, {"10"}, {"0"})},
      {"first_steps", Suite::kStandard, true, axes({"small"}, "512", {"forward", "train_step"}, {"10"}, {"0", "5"})},
      {"first_steps", Suite::kFull, true,
       axes({"small"}, "512", {"forward", "forward_backward", "train_step"}, {"10", "30"},
            {"0", "1", "2", "5", "10"})}};
}

}  // namespace

Family warmup_family(std::span<const ModelSize> extra_sizes) {
  Family model = model_family(extra_sizes);
  std::vector<KeySpec> keys = std::move(model.spec.keys);
  keys.push_back({"steps", {}});
  keys.push_back({"warmup", {"0", "1", "2", "3", "5", "10", "20", "50", "100"}});
  return {.spec = {.name = "Warmup", .keys = std::move(keys), .tables = tables(), .nonsense = {}},
          .make_case = [make_model = std::move(model.make_case)](const CaseId& id, const CaseContext& context)
              -> std::unique_ptr<measure::Case> { return std::make_unique<WarmupCase>(make_model(id, context)); },
          .precision = std::move(model.precision),
          .prescribe =
              [](const CaseId& id, measure::SamplerOptions& sampler) {
                sampler.fixed_warm_up = id.int_at("warmup");
                sampler.fixed_samples = id.int_at("steps");
              },
          .needs_fresh_process = true};
}

}  // namespace tbench::bench
