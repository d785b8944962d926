// Bytes that the DataParallel family and the prediction of its steps both count with.
#pragma once

#include <cstdint>

namespace tbench {

/// Bytes of gradients that strategy:sharded_optimizer reduce-scatters at once: large enough for the links' full rate,
/// small beside what it saves.
inline constexpr std::int64_t kScatterBytes = std::int64_t{128} << 20;

}  // namespace tbench
