// Flat buffers that several gradients share, so that one collective operation moves them all.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tbench::model {

struct Bucket {
  std::vector<std::size_t> leaves;  // in the order in which their gradients come
  at::Tensor data;                  // [elements], of the gradients' dtype; zero between them
  std::vector<at::Tensor> views;    // of data, in the leaves' shapes
};

/// The gradients of all leaves, from the last leaf to the first one, which is the order in which backward makes them. A
/// bucket has one dtype: the dtype of the gradients that are there, else of the leaves.
/// @param bytes  a bucket is closed once it holds as much; nothing: never
[[nodiscard]] std::vector<Bucket> make_buckets(const std::vector<at::Tensor>& leaves,
                                               std::optional<std::int64_t> bytes);

/// Copies the leaves' gradients into the bucket: one operation. Each must be defined.
void fill(const Bucket& bucket, const std::vector<at::Tensor>& leaves);
/// Copies the bucket back into the leaves' gradients.
void empty_into_gradients(const Bucket& bucket, const std::vector<at::Tensor>& leaves);
/// Makes the bucket's parts the leaves' gradients; what these were is given up.
void show_as_gradients(const Bucket& bucket, const std::vector<at::Tensor>& leaves);

/// Bytes of all leaves' gradients by themselves.
[[nodiscard]] std::int64_t gradient_bytes_of(const std::vector<at::Tensor>& leaves);
[[nodiscard]] std::int64_t bytes_of(const std::vector<Bucket>& buckets);

}  // namespace tbench::model
