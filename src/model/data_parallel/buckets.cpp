#include "model/data_parallel/buckets.hpp"

#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/zeros.h>

#include <map>

namespace tbench::model {
namespace {

/// The alignment of gradients in bytes, for the vector loads of the operations that read them.
constexpr std::int64_t kGradientAlignment = 256;

at::ScalarType gradient_dtype(const at::Tensor& leaf) {
  return leaf.grad().defined() ? leaf.grad().scalar_type() : leaf.scalar_type();
}

/// Returns the number of elements that a gradient occupies in a bucket, including its padding.
std::int64_t place_of(const at::Tensor& leaf, at::ScalarType dtype) {
  const auto multiple = kGradientAlignment / static_cast<std::int64_t>(c10::elementSize(dtype));
  return (leaf.numel() + multiple - 1) / multiple * multiple;
}

Bucket make_bucket(std::vector<std::size_t> indices, at::ScalarType dtype, const std::vector<at::Tensor>& leaves) {
  std::int64_t count = 0;
  for (const std::size_t leaf : indices) count += place_of(leaves[leaf], dtype);
  Bucket bucket{.leaves = std::move(indices),
                .data = at::zeros({count}, leaves.front().options().dtype(dtype).requires_grad(false)),
                .views = {}};
  std::int64_t begin = 0;
  for (const std::size_t leaf : bucket.leaves) {
    bucket.views.push_back(bucket.data.narrow(0, begin, leaves[leaf].numel()).view(leaves[leaf].sizes()));
    begin += place_of(leaves[leaf], dtype);
  }
  return bucket;
}

std::vector<at::Tensor> gradients_of(const Bucket& bucket, const std::vector<at::Tensor>& leaves) {
  std::vector<at::Tensor> gradients;
  gradients.reserve(bucket.leaves.size());
  for (const std::size_t leaf : bucket.leaves) gradients.push_back(leaves[leaf].grad());
  return gradients;
}

}  // namespace

std::vector<Bucket> make_buckets(const std::vector<at::Tensor>& leaves, std::optional<std::int64_t> bytes) {
  struct Open {
    std::vector<std::size_t> leaves;
    std::int64_t bytes{};
  };
  std::map<at::ScalarType, Open> open;
  std::vector<Bucket> buckets;
  for (std::size_t leaf = leaves.size(); leaf-- > 0;) {
    const at::ScalarType dtype = gradient_dtype(leaves[leaf]);
    Open& last = open[dtype];
    last.leaves.push_back(leaf);
    last.bytes += place_of(leaves[leaf], dtype) * static_cast<std::int64_t>(c10::elementSize(dtype));
    if (!bytes || last.bytes < *bytes) continue;
    buckets.push_back(make_bucket(std::move(last.leaves), dtype, leaves));
    last = {};
  }
  for (auto& [dtype, last] : open) {
    if (!last.leaves.empty()) buckets.push_back(make_bucket(std::move(last.leaves), dtype, leaves));
  }
  return buckets;
}

void fill(const Bucket& bucket, const std::vector<at::Tensor>& leaves) {
  at::_foreach_copy_(bucket.views, gradients_of(bucket, leaves));
}

void empty_into_gradients(const Bucket& bucket, const std::vector<at::Tensor>& leaves) {
  at::_foreach_copy_(gradients_of(bucket, leaves), bucket.views);
}

void show_as_gradients(const Bucket& bucket, const std::vector<at::Tensor>& leaves) {
  for (std::size_t i = 0; i < bucket.leaves.size(); ++i) leaves[bucket.leaves[i]].mutable_grad() = bucket.views[i];
}

std::int64_t gradient_bytes_of(const std::vector<at::Tensor>& leaves) {
  std::int64_t bytes = 0;
  for (const at::Tensor& leaf : leaves) {
    bytes += leaf.numel() * static_cast<std::int64_t>(c10::elementSize(gradient_dtype(leaf)));
  }
  return bytes;
}

std::int64_t bytes_of(const std::vector<Bucket>& buckets) {
  std::int64_t bytes = 0;
  for (const Bucket& bucket : buckets) bytes += static_cast<std::int64_t>(bucket.data.nbytes());
  return bytes;
}

}  // namespace tbench::model
