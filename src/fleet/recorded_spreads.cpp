// How much sound GPUs of a model differ, measured for this project.
#include <array>

#include "tbench/fleet/fleet.hpp"

namespace tbench::fleet {

/// H200: ten machines that `tbench fleet --alone --json` tells apart in bench/results/nvidia_h200 (nine with products
/// on tensor cores, six with float32 products, three with copies). A test compares.
std::span<const KnownSpread> recorded_spreads() {
  static const std::array<KnownSpread, 3> kSpreads{
      {{"NVIDIA H200", Resource::kTensor, {.standard_deviation = 0.01152, .degrees_of_freedom = 8}},
       {"NVIDIA H200", Resource::kFloat32, {.standard_deviation = 0.00313, .degrees_of_freedom = 5}},
       {"NVIDIA H200", Resource::kMemory, {.standard_deviation = 0.00100, .degrees_of_freedom = 2}}}};
  return kSpreads;
}

}  // namespace tbench::fleet
