// The operations of the ceilings, one function for each kind. Private to the model layer.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "model/operations/operation_case.hpp"
#include "tbench/model/ceiling_case.hpp"

namespace tbench::model {

/// Returns the sizes of a configuration. Asks the GPU for its memory if the configuration has no sizes.
[[nodiscard]] CeilingSizes ceiling_sizes(const CeilingConfig& config);

/// Returns why no GPU is available for measuring `config.what`, or nullopt.
[[nodiscard]] std::optional<std::string> needs_gpu_reason(const CeilingConfig& config);

// Each function below requires a `config.what` that it can make.
[[nodiscard]] std::unique_ptr<Case> make_stream_ceiling(const CeilingConfig& config);
[[nodiscard]] std::unique_ptr<Case> make_product_ceiling(const CeilingConfig& config);
[[nodiscard]] std::unique_ptr<Case> make_launch_ceiling(const CeilingConfig& config);
[[nodiscard]] std::unique_ptr<Case> make_event_ceiling(const CeilingConfig& config);
[[nodiscard]] std::unique_ptr<Case> make_queue_gap_ceiling(const CeilingConfig& config);
[[nodiscard]] std::unique_ptr<Case> make_dispatch_ceiling(const CeilingConfig& config);
[[nodiscard]] std::unique_ptr<Case> make_transfer_ceiling(const CeilingConfig& config);

/// Returns the precision of a product of make_product_ceiling(), like ceiling_precision().
[[nodiscard]] std::optional<Precision> product_precision(std::string_view what);

}  // namespace tbench::model
