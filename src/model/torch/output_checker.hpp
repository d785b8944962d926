// Watches the launches of an implementation that the project did not write: draws its operands anew before each from a
// hidden stream, fills what it writes with NaN, looks at what it has written, and compares launches that are drawn when
// nobody can change them any more.
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

/// Notes how many bytes of the GPU's L2 cache are set aside for persisting lines, before foreign code can change that;
/// the verdicts of the process compare with the number. Later calls do nothing. Needs a GPU.
void note_persisting_l2_bytes();

/// Some rows of every output of one launch; undefined tensors where there is no such output.
struct HiddenRows {
  std::string launch;   // for messages: "timed launch 3 of 200"
  std::size_t order{};  // among those that are compared, from 0: what is dear may be left out of later ones
  std::int64_t group{};
  std::vector<at::Tensor> rows;    // indices of an output's rows, on its device: [n]
  std::vector<at::Tensor> values;  // [n, columns]
};

/// The sums of all rows' elements with hidden signs.
struct RowDigests {
  std::string launch;
  std::uint64_t hidden{};           // for a choice among the rows
  std::vector<at::Tensor> signs;    // [columns], float64
  std::vector<at::Tensor> digests;  // [rows], float64
};

/// All calls but the constructor throw OutOfMemory where LibTorch ran out of memory.
class OutputChecker final : public LaunchChecker {
 public:
  using Tensors = std::vector<at::Tensor>;
  /// A case, as its checker sees it. Comparisons are with float64 of the operands as they are at the call.
  struct Subject {
    std::function<std::vector<DrawnOperand>()> operands;  // that a launch reads
    /// Makes again, untimed, what a launch reads besides, from operands of its own. Null: nothing.
    std::function<void()> prepare{};
    std::function<std::vector<DrawnOperand>()> prepared{};  // the operands of prepare()
    std::function<Tensors()> outputs;                       // of the last launch; undefined where there is none
    std::int64_t groups{1};                                 // see KeptLaunches
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
  [[nodiscard]] std::string name_of(const TimedLaunch& launch) const;

  Subject subject_;
  DeviceKind device_;
  std::uint32_t launches_{};
  LaunchKeys keys_;  // of the next launch
  std::optional<KeptLaunches> kept_;
};

}  // namespace tbench::model
