// Checks the timed launches of an implementation that the project did not write. Before each launch it draws new
// operands from a hidden random stream and fills the outputs with NaN. After each launch it scans the outputs. Launches
// to compare are chosen at random once nobody can change their outputs any more.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/torch/compare.hpp"
#include "model/torch/kept_launches.hpp"
#include "model/torch/launch_draw.hpp"
#include "tbench/core/case.hpp"
#include "tbench/model/device.hpp"

namespace tbench::model {

/// Notes how many bytes of the GPU's L2 cache are set aside for persisting lines, before foreign code can change the
/// number. All later verdicts of the process compare with it. Later calls do nothing. Needs a GPU.
void note_persisting_l2_bytes();

/// Some rows of every output of one launch; tensors are undefined for outputs that do not exist.
struct HiddenRows {
  std::string launch;   // name for messages: "timed launch 3 of 200"
  std::size_t order{};  // index among the compared launches, from 0; expensive comparisons may be left out of later
                        // launches
  std::int64_t group{};
  std::vector<at::Tensor> rows;    // row indices, on the output's device: [n]
  std::vector<at::Tensor> values;  // [n, columns]
};

/// For every row of one launch's outputs, the sum of its elements with hidden signs.
struct RowDigests {
  std::string launch;
  std::uint64_t hidden{};           // random number with which rows may be chosen
  std::vector<at::Tensor> signs;    // [columns], float64
  std::vector<at::Tensor> digests;  // [rows], float64
};

/// Checks a case's launches. All calls but the constructor throw OutOfMemory if LibTorch runs out of memory.
class OutputChecker final : public LaunchChecker {
 public:
  using Tensors = std::vector<at::Tensor>;
  /// The checker's view of a case. The compare functions compare with float64 of the current operands.
  struct Subject {
    std::function<std::vector<DrawnOperand>()> operands;  // operands that a launch reads
    /// Recomputes, outside of the timing, further inputs of a launch from the operands in `prepared`. Null if there are
    /// no further inputs.
    std::function<void()> prepare{};
    std::function<std::vector<DrawnOperand>()> prepared{};  // the operands of prepare()
    std::function<Tensors()> outputs;                       // the last launch's; may be undefined
    std::int64_t groups{1};                                 // `groups` of KeptLaunches
    std::function<void(const HiddenRows&, Comparison&)> compare_rows;
    std::function<void(const RowDigests&, Comparison&)> compare_digests;
    std::function<Verification(const Tensors& outputs)> compare;
  };

  OutputChecker(Subject subject, DeviceKind device) : subject_{std::move(subject)}, device_{device} {}

  void begin() override;
  void redraw() override;
  void perturb() override;
  void after() override;
  [[nodiscard]] Verification verdict() override;

 private:
  void draw_prepared(std::uint64_t key) const;
  void draw_again(const LaunchKeys& keys) const;
  [[nodiscard]] Verification compared() const;
  [[nodiscard]] std::string name_of(std::uint32_t launch) const;

  Subject subject_;
  DeviceKind device_;
  std::uint32_t launches_{};
  LaunchKeys keys_;  // keys of the next launch
  std::optional<KeptLaunches> kept_;
};

}  // namespace tbench::model
