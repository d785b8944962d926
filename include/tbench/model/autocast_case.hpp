// Cases of a forward and backward pass under autocast that record the dtype in which each operation ran. The interface
// is free of LibTorch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/case.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/model/device.hpp"

namespace tbench::model {

enum class AutocastModule {
  kToy,         // the course's module: fc1 [20 to 10], ReLU, LayerNorm, fc2 [10 to 5], cross entropy; 32 rows
  kTransformer  // the studies' transformer, operation by operation (`eager`): size tiny, one sequence of 16 tokens
};

[[nodiscard]] std::string_view to_string(AutocastModule subject);
[[nodiscard]] std::optional<AutocastModule> parse_autocast_module(std::string_view text);
/// Returns all names, in order.
[[nodiscard]] std::vector<std::string> autocast_module_names();

struct AutocastConfig {
  AutocastModule subject{};
  Precision precision{};  // kFp16 or kBf16
  DeviceKind device{};
  std::uint64_t seed{};
};

/// Makes an autocast case. Labels, after verify(): the dtypes of each operation, in the format of dtype_observer.hpp,
/// and the dtypes of `parameters` and `gradients`. Logits, loss and gradients are verified against float32 without
/// autocast. A launch is a forward and a backward pass, chained like the passes of a model. CPU autocast differs from
/// GPU autocast: on a CPU, layer norm, softmax and exponentials stay in 16 bits.
/// @throws  UsageError  if the precision is not an autocast dtype
[[nodiscard]] std::unique_ptr<Case> make_autocast_case(const AutocastConfig& config);

}  // namespace tbench::model
