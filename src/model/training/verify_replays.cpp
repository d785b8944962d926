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

/// Four updates show what a graph froze; a forward pass leaves nothing that a second replay could add to.
int steps_of(Pass pass) { return pass == Pass::kForward ? 1 : 4; }

// Two runs of the same steps differ: sums that are added in any order do, an update turns that into as much as twice
// the learning rate where a gradient is near zero, and the steps that follow amplify it. What one weight of a norm does
// then says nothing (on an H200, with 2.7B's 32 layers, ten replays of one were 0.57 of its update off, replays of
// `small` to `large` 0.07), but how far it goes does, and so do all parameters together. With a frozen bias correction,
// and gradients that stay as they are, four updates go 1.41 times as far (betas 0.9 and 0.999). Half of that is
// allowed, and to all parameters together what two runs of plain steps differ by besides.
constexpr double kUpdateNorm = 0.2;
constexpr double kLength = 0.2;
constexpr double kAnyElement = 1e6;

/// Distances of all parameters together: squares of the distances between weights.
struct Distances {
  double moved{};    // from their initial values, by plain steps
  double runs{};     // between two runs of these
  double replays{};  // between one and the replays
};

double norm_of(const at::Tensor& tensor) { return tensor.norm().item<double>(); }
double square(double x) { return x * x; }

std::vector<at::Tensor> copies_of(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  copies.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) copies.push_back(tensor.detach().clone());
  return copies;
}

/// Between tensors and their copies, all together.
double square_distance(const std::vector<at::Tensor>& tensors, const std::vector<at::Tensor>& copies) {
  double sum = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) sum += square(norm_of(tensors[i].detach().sub(copies[i])));
  return sum;
}

/// The results of two runs of plain steps from the initial state. Empty where a step leaves no state.
struct PlainRuns {
  std::vector<at::Tensor> leaves;  // after the first; of the second there is no copy, for which memory may be lacking
  double square_distance{};        // between them
};

PlainRuns make_plain_runs(Trainer& trainer) {
  const std::vector<at::Tensor>& leaves = trainer.parameters().leaves();
  const auto make_steps = [&] {
    for (int i = 0; i < steps_of(trainer.config().pass); ++i) trainer.step();
  };
  PlainRuns runs;
  make_steps();
  if (trainer.config().pass == Pass::kTrainStep) {
    runs.leaves = copies_of(leaves);
    trainer.reset();
    make_steps();
    runs.square_distance = square_distance(leaves, runs.leaves);
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
  for (int i = 0; i < steps_of(trainer.config().pass); ++i) graphed.launch(nullptr);

  const at::NoGradGuard no_grad;
  Comparison comparison;
  Distances all{.runs = square_distance_of_runs};
  const Parameters& parameters = trainer.parameters();
  for (std::size_t i = 0; i < parameters.named().size() && !plain.empty(); ++i) {
    const NamedParameter& parameter = parameters.named()[i];
    const at::Tensor before = parameters.initial_value(i, trainer.config().seed);
    const at::Tensor after = part_of(parameter, plain[parameter.leaf]);
    const double moved = norm_of(after.sub(before));
    const double replayed = norm_of(parameter.value.sub(before));
    add_distance(comparison, parameter.name + " length of the update by replays", moved, replayed - moved, kLength);
    all.moved += square(moved);
    all.replays += square(norm_of(parameter.value.sub(after)));
  }
  if (!plain.empty()) {
    const double moved = std::sqrt(all.moved);
    add_distance(comparison, "all parameters' update by replays", moved, std::sqrt(all.replays),
                 kUpdateNorm + (moved > 0 ? std::sqrt(all.runs) / moved : 0.0));
  }
  Verification verdict = comparison.finish("steps without a graph");
  trainer.reset();
  return verdict;
}

}  // namespace tbench::model
