// Launch functions of a token embedding: the lookup of rows in a table, and the sum of their gradients.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "tbench/core/enums.hpp"

namespace tbench::kernels {

/// If a row is a multiple of 16 bytes and every pointer is 16-byte aligned, rows are accessed in vectors, otherwise
/// element by element. A token outside [0, vocab_size) reads a row of NaN and adds to no row.
struct EmbeddingShape {
  std::int64_t tokens{};                  // > 0
  std::int64_t vocab_size{};              // > 0
  std::int64_t width{};                   // > 0; tokens x width and vocab_size x width at most 2^40
  Precision precision{Precision::kFp32};  // precision of the table, the rows and their gradients
};

/// Enqueues rows[i] = table[tokens[i]] in one launch; does not synchronise.
/// @param tokens  [tokens]
/// @param table   [vocab_size, width]
/// @param rows    [tokens, width]
/// @throws  std::invalid_argument  for an invalid extent or a null pointer; cuda::CudaError
void embedding_forward(const EmbeddingShape& shape, const std::int64_t* tokens, const void* table, void* rows,
                       cudaStream_t stream);

/// Enqueues dtable[w] = sum of drows[i] over all i with tokens[i] = w; 0 if w does not occur. Fills the table with
/// zeros, then adds atomically, in any order, and rounds each sum to the storage type. Enqueues two operations; does
/// not synchronise.
/// @param drows   [tokens, width]
/// @param dtable  [vocab_size, width], written
/// @throws  as embedding_forward()
void embedding_backward(const EmbeddingShape& shape, const std::int64_t* tokens, const void* drows, void* dtable,
                        cudaStream_t stream);

/// Enqueues the additions of embedding_backward() without the zeros before them: dtable[w] += sum of drows[i] over all
/// i with tokens[i] = w, for a table that already holds another part of its gradient. Enqueues one operation.
/// @param dtable  [vocab_size, width], read and written
/// @throws  as embedding_forward()
void embedding_backward_add(const EmbeddingShape& shape, const std::int64_t* tokens, const void* drows, void* dtable,
                            cudaStream_t stream);

}  // namespace tbench::kernels
