#include "attention/planted_fault.hpp"

namespace tbench::kernels {

PlantedFault& planted_fault() {
  static PlantedFault fault{PlantedFault::kNone};
  return fault;
}

}  // namespace tbench::kernels
