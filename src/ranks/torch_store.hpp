// c10d's stores as this layer opens them.
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "tbench/core/units.hpp"
#include "tbench/ranks/launch.hpp"

namespace tbench::ranks {

/// The store of the ranks, in which every key begins with that of this start.
/// @throws  as open_store()
[[nodiscard]] c10::intrusive_ptr<c10d::Store> open_torch_store(const Launch& launch, bool may_serve, Seconds limit);

/// What an exception of c10d says, without its backtrace.
[[nodiscard]] std::string message_of(const std::exception& error);

}  // namespace tbench::ranks
