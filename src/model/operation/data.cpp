#include "tbench/model/operation/data.hpp"

#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/ops/randn.h>

#include "tbench/model/execution_scope.hpp"

namespace tbench::model {
namespace {

/// A generator's seed for one buffer: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014),
/// SplitMix64, the output number `index` + 1 of the state `seed`. The CPU's generator takes its low 32 bits alone.
std::uint64_t seed_of_buffer(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + 0x9e3779b97f4a7c15U * (index + 1);
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

}  // namespace

at::Tensor seeded_normal(at::IntArrayRef shape, at::ScalarType dtype, DeviceKind device, std::uint64_t seed,
                         std::uint64_t index) {
  at::Generator generator = at::globalContext().defaultGenerator(torch_device(device)).clone();
  generator.set_current_seed(seed_of_buffer(seed, index));
  return at::randn(shape, generator, at::TensorOptions{}.device(torch_device(device)).dtype(at::kFloat)).to(dtype);
}

}  // namespace tbench::model
