// Flat buffers that several gradients share, so that one collective operation moves them all.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tbench::model {

struct Bucket {
  std::vector<std::size_t> leaves;  // in the order in which their gradients arrive
  at::Tensor data;                  // [elements], in the gradients' dtype; zero between gradients
  std::vector<at::Tensor> views;    // of data, in the leaves' shapes
};

/// Makes buckets for the gradients of all leaves, from the last leaf to the first, which is the order in which backward
/// makes them. A bucket has one dtype: the dtype of the gradients if they exist, otherwise of the leaves.
/// @param bytes  size at which a bucket is closed; nullopt: no limit
[[nodiscard]] std::vector<Bucket> make_buckets(const std::vector<at::Tensor>& leaves,
                                               std::optional<std::int64_t> bytes);

/// Copies the leaves' gradients into the bucket in one operation. Each gradient must be defined.
void fill(const Bucket& bucket, const std::vector<at::Tensor>& leaves);
/// Copies the bucket back into the leaves' gradients.
void empty_into_gradients(const Bucket& bucket, const std::vector<at::Tensor>& leaves);
/// Replaces the leaves' gradients by views of the bucket.
void show_as_gradients(const Bucket& bucket, const std::vector<at::Tensor>& leaves);

/// Returns the bytes of all leaves' gradients, without the gaps of buckets.
[[nodiscard]] std::int64_t gradient_bytes_of(const std::vector<at::Tensor>& leaves);
[[nodiscard]] std::int64_t bytes_of(const std::vector<Bucket>& buckets);

}  // namespace tbench::model
