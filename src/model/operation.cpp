#include "tbench/model/operation.hpp"

#include "tbench/model/device.hpp"
#include "tbench/model/out_of_memory.hpp"

namespace tbench::model {

void Operation::build() {
  if (cuda_device_count() > 0) observe_cuda_out_of_memory();
  with_out_of_memory_translated([this] { do_build(); });
}

Verification Operation::verify() {
  Verification result;
  with_out_of_memory_translated([&] { result = do_verify(); });
  return result;
}

void Operation::launch() {
  with_out_of_memory_translated([this] { do_launch(); });
}

}  // namespace tbench::model
