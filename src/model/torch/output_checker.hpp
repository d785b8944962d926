// Watches the launches of an implementation that the project did not write: changes its operands before each, keeps
// what some have written, and compares the last of those.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "tbench/core/case.hpp"
#include "tbench/model/device.hpp"

namespace tbench::model {

/// A change that can be taken back.
struct Perturbation {
  at::Tensor place;   // a view
  at::Tensor before;  // what was there; undefined: signs have turned
  void undo() const;
};

/// Changes a little of a contiguous tensor in place, so that its values keep their distribution: one index of the last
/// dimension but one, in all others; one element of a vector. Signs turn; token ids move.
Perturbation perturb(const at::Tensor& tensor, std::mt19937_64& random);

/// Notes how many bytes of the GPU's L2 cache are set aside for persisting lines, before foreign code can change that;
/// the verdicts of the process compare with the number. Later calls do nothing. Needs a GPU.
void note_persisting_l2_bytes();

/// Copies the outputs of the first launch and then of one in eight, chosen behind it and at random: a copy goes through
/// the L2 cache, and leaves another one to the launch behind it than other implementations meet. The verdict takes back
/// what has changed since the last copy. All calls throw OutOfMemory where LibTorch ran out of memory.
class OutputChecker final : public LaunchChecker {
 public:
  using Tensors = std::vector<at::Tensor>;
  struct Subject {
    std::function<Tensors()> operands;                            // that a launch reads and may be changed before it
    std::function<Tensors()> outputs;                             // of the last launch
    std::function<Verification(const Tensors& outputs)> compare;  // copies of them, with what follows of the operands
  };

  OutputChecker(Subject subject, DeviceKind device, std::uint64_t seed)
      : subject_{std::move(subject)}, device_{device}, random_{seed} {}

  void before() override;
  void after() override;
  [[nodiscard]] Verification verdict() override;

 private:
  void copy_outputs();

  Subject subject_;
  DeviceKind device_;
  std::mt19937_64 random_;
  Tensors copies_;
  std::vector<Perturbation> since_copy_;
};

}  // namespace tbench::model
