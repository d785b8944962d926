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

/// Returns the number of steps to compare. Four updates show a frozen state; a forward pass has no state, so one is
/// enough.
int steps_of(Pass pass) { return pass == Pass::kForward ? 1 : 4; }

// Two runs of the same steps differ: sums depend on the order of addition, an update turns that into a difference of up
// to twice the learning rate where a gradient is near zero, and later steps amplify it. The direction in which one
// weight of a norm moves is therefore not comparable: in ten replays on an H200, such a weight was off by 0.57 of its
// update with 2.7B's 32 layers, and by 0.07 with `small` to `large`. The length of each update is comparable, and so is
// the update of all parameters together. With a frozen bias correction and constant gradients, four updates go 1.41
// times as far (betas 0.9 and 0.999). Half of this excess is allowed; for all parameters together, the difference
// between two runs of plain steps is added.
constexpr double kUpdateNorm = 0.2;
constexpr double kLength = 0.2;
constexpr double kAnyElement = 1e6;

/// Squared Euclidean distances over all parameters together.
struct Distances {
  double moved{};    // from the initial values to the values after plain steps
  double runs{};     // between two runs of plain steps
  double replays{};  // between plain steps and replays
};

double norm_of(const at::Tensor& tensor) { return tensor.norm().item<double>(); }
double square(double x) { return x * x; }

std::vector<at::Tensor> copies_of(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  copies.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) copies.push_back(tensor.detach().clone());
  return copies;
}

/// Returns the squared distance between tensors and their copies, over all of them.
double square_distance(const std::vector<at::Tensor>& tensors, const std::vector<at::Tensor>& copies) {
  double sum = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) sum += square(norm_of(tensors[i].detach().sub(copies[i])));
  return sum;
}

/// The results of two runs of plain steps from the initial state. Empty if a step leaves no state.
struct PlainRuns {
  std::vector<at::Tensor> leaves;  // values after the first run; the second run's are not kept, to save memory
  double square_distance{};        // squared distance between the two runs
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

/// Adds a comparison of a distance with a tolerance that is relative to the length `moved`.
void add_distance(Comparison& comparison, const std::string& name, double moved, double distance, double of_norm) {
  comparison.add(name, scalar(moved + distance), scalar(moved), {.of_rms = kAnyElement, .of_norm = of_norm});
}

}  // namespace

Verification verify_replays(Trainer& trainer, GraphedStep& graphed) {
  const auto [plain, square_distance_of_runs] = make_plain_runs(trainer);
  // The graphs have their own memory, which may not fit next to the cached memory of plain steps.
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
