// An operation of the model layer as a case of a benchmark family.
#pragma once

#include <memory>

#include "tbench/core/regime.hpp"
#include "tbench/measure/case.hpp"
#include "tbench/model/operation.hpp"

namespace tbench::bench {

/// A case of one phase, timed as `regime` says.
[[nodiscard]] std::unique_ptr<measure::Case> make_operation_case(std::unique_ptr<model::Operation> operation,
                                                                 Regime regime);

}  // namespace tbench::bench
