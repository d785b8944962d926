#include "model/layers/shared_heads.hpp"

namespace tbench::model {

at::Tensor repeated_heads(const at::Tensor& shared, std::int64_t heads) {
  const std::int64_t group = heads / shared.size(1);
  return group == 1 ? shared : shared.repeat_interleave(group, 1);
}

at::Tensor summed_heads(const at::Tensor& all, std::int64_t kv_heads) {
  const std::int64_t group = all.size(1) / kv_heads;
  return group == 1 ? all : all.unflatten(1, {kv_heads, group}).sum(2);
}

}  // namespace tbench::model
