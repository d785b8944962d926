// Opening c10d's store of the ranks.
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "tbench/core/units.hpp"
#include "tbench/ranks/launch.hpp"

namespace tbench::ranks {

/// Opens the store of the ranks and prefixes every key with the key of this start.
/// @throws  the exceptions of open_store()
[[nodiscard]] c10::intrusive_ptr<c10d::Store> open_torch_store(const Launch& launch, bool may_serve, Seconds limit);

/// Returns the text of an exception of c10d, without its backtrace.
[[nodiscard]] std::string message_of(const std::exception& error);

}  // namespace tbench::ranks
