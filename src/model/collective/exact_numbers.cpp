#include "model/collective/exact_numbers.hpp"

#include <ATen/ops/arange.h>

namespace tbench::model {

at::Tensor exact_numbers(const ExactNumbers& of, int rank, std::uint64_t seed, std::int64_t begin, std::int64_t count) {
  constexpr std::int64_t kMultiplier = 2654435761;  // Knuth, The Art of Computer Programming, 6.4
  constexpr std::int64_t kApart = 7919;
  constexpr std::int64_t kLowBits = 16;
  const auto place = static_cast<std::int64_t>(seed % 1000) * kApart + std::int64_t{rank} * (kApart + 2);
  at::Tensor hash = at::arange(begin + place, begin + place + count, of.options.dtype(at::kLong)).mul_(kMultiplier);
  hash.bitwise_right_shift_(at::Scalar{kLowBits});
  return hash.remainder_(2 * of.largest + 1).sub_(of.largest).to(of.options.dtype().toScalarType());
}

}  // namespace tbench::model
