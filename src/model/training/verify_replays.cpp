#include "model/training/verify_replays.hpp"

#include <ATen/core/grad_mode.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include <vector>

#include "model/torch/compare.hpp"

namespace tbench::model {
namespace {

constexpr int kSteps = 10;

// Between two runs of the same steps sums that are added in any order differ, and an update turns that into as much as
// twice the learning rate where a gradient is near zero.
constexpr double kUpdateNorm = 0.1;
constexpr double kAnyElement = 1e6;

std::vector<at::Tensor> copies_of(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  copies.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) copies.push_back(tensor.detach().clone());
  return copies;
}

}  // namespace

Verification verify_replays(Trainer& trainer, GraphedStep& graphed) {
  const bool carries_state = trainer.config().pass == Pass::kTrainStep;
  const Parameters& parameters = trainer.parameters();
  for (int i = 0; i < kSteps; ++i) trainer.step();
  const std::vector<at::Tensor> plain = carries_state ? copies_of(parameters.leaves()) : std::vector<at::Tensor>{};
  trainer.reset();
  // The graphs have memory of their own: both at once may not fit.
  c10::cuda::CUDACachingAllocator::emptyCache();
  for (int i = 0; i < kSteps; ++i) graphed.launch(nullptr);

  const at::NoGradGuard no_grad;
  Comparison comparison;
  for (std::size_t i = 0; i < parameters.named().size() && carries_state; ++i) {
    const NamedParameter& parameter = parameters.named()[i];
    const at::Tensor before = parameters.initial_value(i, trainer.config().seed);
    const at::Tensor expected = plain[parameter.leaf].narrow(0, parameter.first_row, parameter.value.size(0));
    comparison.add(parameter.name + " update of ten replays", parameter.value.sub(before), expected.sub(before),
                   {.of_rms = kAnyElement, .of_norm = kUpdateNorm});
  }
  Verification verdict = comparison.finish("ten steps without a graph");
  trainer.reset();
  return verdict;
}

}  // namespace tbench::model
