// Configurations of attention for tests.
#pragma once

#include <string>

#include "tbench/model/attention_step.hpp"

namespace tbench::model {

inline AttentionStepConfig attention_config(DeviceKind device, const std::string& impl, AttentionPass pass,
                                            Precision precision, const AttentionShape& shape) {
  return {.shape = shape,
          .pass = pass,
          .precision = precision,
          .impl = impl,
          .deterministic = false,
          .device = device,
          .seed = 1};
}

}  // namespace tbench::model
