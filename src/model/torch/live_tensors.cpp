#include "model/torch/live_tensors.hpp"

#include <cstdint>

namespace tbench::model {

void add_live(std::vector<LiveTensor>& live, const at::Tensor& tensor, std::string_view memory_class) {
  if (!tensor.defined()) return;
  const c10::Storage& storage = tensor.storage();
  const LiveTensor added{.address = reinterpret_cast<std::uintptr_t>(storage.data()),
                         .bytes = static_cast<std::int64_t>(storage.nbytes()),
                         .memory_class = memory_class};
  // Only consecutive parts of one storage are merged here; readers of the list must handle other duplicates.
  if (!live.empty() && live.back().address == added.address) return;
  live.push_back(added);
}

}  // namespace tbench::model
