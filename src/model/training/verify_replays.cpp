#include "model/training/verify_replays.hpp"

#include <ATen/core/grad_mode.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include <vector>

#include "model/torch/compare.hpp"

namespace tbench::model {
namespace {

constexpr int kSteps = 10;

// Two runs of the same steps differ: sums that are added in any order do, an update turns that into as much as twice
// the learning rate where a gradient is near zero, and the steps that follow amplify it (on an H200 replays of `small`
// to `large` stay within 0.07 of the update's norm; 48 layers reached 0.17). So replays may differ from plain steps by
// twice what two runs of these do, and by this much besides. A bias correction that was frozen differs by 0.7.
constexpr double kUpdateNorm = 0.1;
constexpr double kSpreads = 2.0;
constexpr double kAnyElement = 1e6;

std::vector<at::Tensor> copies_of(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  copies.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) copies.push_back(tensor.detach().clone());
  return copies;
}

std::vector<at::Tensor> parameters_after_plain_steps(Trainer& trainer) {
  for (int i = 0; i < kSteps; ++i) trainer.step();
  const bool carries_state = trainer.config().pass == Pass::kTrainStep;
  std::vector<at::Tensor> leaves = carries_state ? copies_of(trainer.parameters().leaves()) : std::vector<at::Tensor>{};
  trainer.reset();
  return leaves;
}

}  // namespace

Verification verify_replays(Trainer& trainer, GraphedStep& graphed) {
  const std::vector<at::Tensor> plain = parameters_after_plain_steps(trainer);
  const std::vector<at::Tensor> again = plain.empty() ? plain : parameters_after_plain_steps(trainer);
  // The graphs have memory of their own: both at once may not fit.
  c10::cuda::CUDACachingAllocator::emptyCache();
  for (int i = 0; i < kSteps; ++i) graphed.launch(nullptr);

  const at::NoGradGuard no_grad;
  Comparison comparison;
  const Parameters& parameters = trainer.parameters();
  for (std::size_t i = 0; i < parameters.named().size() && !plain.empty(); ++i) {
    const NamedParameter& parameter = parameters.named()[i];
    const at::Tensor before = parameters.initial_value(i, trainer.config().seed);
    const at::Tensor after = part_of(parameter, plain[parameter.leaf]);
    const at::Tensor update = after.sub(before);
    const double norm = update.norm().item<double>();
    const double spread = part_of(parameter, again[parameter.leaf]).sub(after).norm().item<double>();
    comparison.add(parameter.name + " update of ten replays", parameter.value.sub(before), update,
                   {.of_rms = kAnyElement, .of_norm = kUpdateNorm + (norm > 0 ? kSpreads * spread / norm : 0.0)});
  }
  Verification verdict = comparison.finish("ten steps without a graph");
  trainer.reset();
  return verdict;
}

}  // namespace tbench::model
