// The LM head with its loss and gradients in chunks of rows (tokens). A chunk's logits are computed, replaced by their
// gradients and used for both gradients of the head before the next chunk begins, so that memory never holds more
// logits than one chunk has.
#pragma once

#include <cstdint>
#include <optional>

#include "model/fused/products.hpp"
#include "tbench/core/enums.hpp"

namespace tbench::model {

/// Rows of a chunk. A chunk reads and writes the whole float32 gradient of the weight once, so shorter chunks would
/// take longer: with 256 rows, 8,192 tokens x 128,256 words would move 67 GB.
inline constexpr std::int64_t kHeadChunkRows = 2048;

struct HeadShape {
  std::int64_t tokens{}, d_model{}, vocab_size{};
  Precision precision{};  // as in LinearShape
};

/// The division of a head's rows into chunks.
struct HeadChunks {
  std::int64_t rows{};  // rows of every chunk but the last one, which may have fewer
  std::int64_t count{};
  bool operator==(const HeadChunks&) const = default;
};

/// Returns the division that needs the least memory. Chunks save the logits of all rows but kHeadChunkRows. In bf16,
/// they cost two bytes more per element of the weight's gradient, whose sum over chunks needs float32: with bfloat16
/// sums, its error would grow from 1.7e-3 to 6.0e-3 of its norm over 32 chunks. Both grow with the vocabulary, so the
/// rows are divided if there are more than d_model + kHeadChunkRows, in every precision. Otherwise one chunk has all
/// rows.
/// @throws  std::invalid_argument  for an extent that is not positive
[[nodiscard]] HeadChunks head_chunks(const HeadShape& shape);

/// Returns the bytes by which the division of head_chunks() needs less memory than one chunk of all rows with a
/// gradient of the weight in weight_gradient_type(); 0 for one chunk.
/// @throws  std::invalid_argument  as head_chunks()
[[nodiscard]] std::int64_t head_chunk_savings(const HeadShape& shape);

/// Returns whether a train step divides its head: if this saves at least 256 MiB. Otherwise the step has all logits at
/// once, which its verification compares. No step of the course's sizes with 4,096 tokens or fewer saves as much.
/// @throws  std::invalid_argument  as head_chunks()
[[nodiscard]] bool step_divides_head(const HeadShape& shape);

/// Returns the type of the weight's gradient: float32 for several chunks, otherwise weight_gradient_type().
/// @throws  std::invalid_argument  as head_chunks()
[[nodiscard]] at::ScalarType head_gradient_type(const HeadShape& shape);

/// The tensors of one step, contiguous and on the device; x, weight and dx have the precision's type. Pointers are
/// 256-byte aligned.
struct HeadOperands {
  const void* x{};                // [tokens, d_model]
  const void* weight{};           // [vocab_size, d_model]
  const std::int64_t* targets{};  // [tokens]
  float factor{1};                // factor of all gradients; 1 / tokens yields the gradients of the mean loss
  const float* scale{};           // loss scale, another factor, a scalar; null: 1
  void* logits{};                 // [HeadChunks::rows, vocab_size]: a chunk's logits, then their gradients
  void* dx{};                     // [tokens, d_model]
  void* dweight{};                // [vocab_size, d_model] of head_gradient_type()
  float* losses{};                // [tokens]: lse - logits[target]
  float* lse{};                   // [tokens]: log(sum(exp(logits))); may be null
};

class ChunkedHead {
 public:
  /// Plans the products.
  /// @param library  must outlive this object; its workspace() is used
  /// @throws         std::invalid_argument  as head_chunks(); cuda::CublasError
  ChunkedHead(const ProductLibrary& library, const HeadShape& shape);

  /// Enqueues the whole head on the current stream and overwrites every result. The first call selects the products'
  /// algorithms: it synchronises and cannot be captured. Later calls never synchronise.
  /// @throws  std::invalid_argument  for a null operand; cuda::CublasError, cuda::CudaError
  void run(const HeadOperands& operands);
  /// Enqueues one chunk.
  /// @param adds  whether dweight has the sum of other chunks' gradients, to which this chunk's is added; otherwise
  ///              dweight is overwritten. Some call must overwrite it before the first one adds
  /// @throws      as run()
  void run_chunk(const HeadOperands& operands, std::int64_t chunk, bool adds);

  [[nodiscard]] const HeadChunks& chunks() const { return chunks_; }

 private:
  /// The products of a chunk.
  struct Products {
    Products(const ProductLibrary& library, const HeadShape& shape, std::int64_t rows);

    Product logits, input_gradient, weight_gradient, added_weight_gradient;
  };
  void select_added(const HeadOperands& operands);
  void cross_entropy(const HeadOperands& operands, std::int64_t first, std::int64_t rows) const;

  HeadShape shape_;
  HeadChunks chunks_;
  Products whole_;                // for chunks of chunks_.rows rows
  std::optional<Products> last_;  // for a last chunk of fewer rows
};

}  // namespace tbench::model
