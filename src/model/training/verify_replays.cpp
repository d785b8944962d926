#include "model/training/verify_replays.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include <cmath>
#include <string>
#include <vector>

#include "model/torch/compare.hpp"

namespace tbench::model {
namespace {

constexpr int kSteps = 10;

// Two runs of the same steps differ: sums that are added in any order do, an update turns that into as much as twice
// the learning rate where a gradient is near zero, and the steps that follow amplify it. What one weight of a norm does
// then says nothing (on an H200, with 2.7B's 32 layers, replays of one were 0.57 of its update off, those of `small` to
// `large` 0.07), but how far it goes does, and so do all parameters together. Those may be off by half of what a
// frozen bias correction makes, 0.7, and by what two runs of plain steps differ by besides.
constexpr double kUpdateNorm = 0.35;
constexpr double kLength = 0.5;
constexpr double kAnyElement = 1e6;

/// Of all parameters together: squares of the distances between weights.
struct Distances {
  double moved{};    // from their initial values, by plain steps
  double runs{};     // between two runs of these
  double replays{};  // between one and the replays
};

double norm_of(const at::Tensor& tensor) { return tensor.norm().item<double>(); }
double square(double x) { return x * x; }

/// What steps made of each parameter: its value less its initial one.
at::Tensor update_of(const Trainer& trainer, std::size_t parameter) {
  const at::Tensor before = trainer.parameters().initial_value(parameter, trainer.config().seed);
  return trainer.parameters().named()[parameter].value.detach().sub(before);
}

/// Of two runs of plain steps from the initial state. Empty where a step leaves no state.
struct PlainRuns {
  /// Of the first, a parameter each, rounded by at most 0.4 %: beside the graphs there may be no memory for float32.
  /// Of the second there is none.
  std::vector<at::Tensor> updates;
  double square_distance{};  // between the two
};

std::vector<at::Tensor> rounded_updates(const Trainer& trainer) {
  std::vector<at::Tensor> updates;
  for (std::size_t i = 0; i < trainer.parameters().named().size(); ++i) {
    updates.push_back(update_of(trainer, i).to(at::kBFloat16));
  }
  return updates;
}

/// Of what steps made of all parameters from those updates.
double square_distance(const Trainer& trainer, const std::vector<at::Tensor>& updates) {
  double sum = 0;
  for (std::size_t i = 0; i < updates.size(); ++i) sum += square(norm_of(update_of(trainer, i).sub(updates[i])));
  return sum;
}

PlainRuns make_plain_runs(Trainer& trainer) {
  const auto make_steps = [&] {
    for (int i = 0; i < kSteps; ++i) trainer.step();
  };
  PlainRuns runs;
  make_steps();
  if (trainer.config().pass == Pass::kTrainStep) {
    runs.updates = rounded_updates(trainer);
    trainer.reset();
    make_steps();
    runs.square_distance = square_distance(trainer, runs.updates);
  }
  trainer.reset();
  return runs;
}

at::Tensor scalar(double value) { return at::full({1}, value, at::kDouble); }

/// A distance within a tolerance, as a comparison of what has a length of `moved`.
void add_distance(Comparison& comparison, const std::string& name, double moved, double distance, double of_norm) {
  comparison.add(name, scalar(moved + distance), scalar(moved), {.of_rms = kAnyElement, .of_norm = of_norm});
}

}  // namespace

Verification verify_replays(Trainer& trainer, GraphedStep& graphed) {
  const auto [plain, square_distance_of_runs] = make_plain_runs(trainer);
  // The graphs have memory of their own: both at once may not fit.
  c10::cuda::CUDACachingAllocator::emptyCache();
  for (int i = 0; i < kSteps; ++i) graphed.launch(nullptr);

  const at::NoGradGuard no_grad;
  Comparison comparison;
  Distances all{.runs = square_distance_of_runs};
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const at::Tensor expected = plain[i].to(at::kFloat);
    const at::Tensor replayed = update_of(trainer, i);
    const double moved = norm_of(expected);
    add_distance(comparison, trainer.parameters().named()[i].name + " length of the update of ten replays", moved,
                 norm_of(replayed) - moved, kLength);
    all.moved += square(moved);
    all.replays += square(norm_of(replayed.sub(expected)));
  }
  if (!plain.empty()) {
    const double moved = std::sqrt(all.moved);
    add_distance(comparison, "all parameters' update of ten replays", moved, std::sqrt(all.replays),
                 kUpdateNorm + (moved > 0 ? std::sqrt(all.runs) / moved : 0.0));
  }
  Verification verdict = comparison.finish("ten steps without a graph");
  trainer.reset();
  return verdict;
}

}  // namespace tbench::model
