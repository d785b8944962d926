#include "model/fused/chunked_head.hpp"

#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "tbench/core/step_counts.hpp"
#include "tbench/kernels/cross_entropy.hpp"

namespace tbench::model {
namespace {

Precision storage_of(const HeadShape& shape) {
  return shape.precision == Precision::kTf32 ? Precision::kFp32 : shape.precision;
}

LinearShape linear_shape(const HeadShape& shape, std::int64_t rows) {
  return {.tokens = rows, .in = shape.d_model, .out = shape.vocab_size, .precision = shape.precision};
}

cuda::MatmulProblem gradient_problem(const HeadShape& shape, std::int64_t rows, bool accumulate) {
  cuda::MatmulProblem problem = weight_gradient_problem(linear_shape(shape, rows), /*multiprocessors=*/0);
  if (head_gradient_type(shape) == at::kFloat) problem.output_type = CUDA_R_32F;
  problem.accumulate = accumulate;
  return problem;
}

/// Returns the address of row `first` of a contiguous matrix with `width` elements per row.
template <class Byte, class Pointer>
Pointer row_of(Pointer matrix, const HeadShape& shape, std::int64_t first, std::int64_t width) {
  return static_cast<Byte*>(matrix) + first * width * storage_bytes(storage_of(shape));
}

}  // namespace

HeadChunks head_chunks(const HeadShape& shape) {
  for (const std::int64_t extent : {shape.tokens, shape.d_model, shape.vocab_size}) {
    if (extent <= 0) throw std::invalid_argument{fmt::format("chunked head: the extent {} is not positive", extent)};
  }
  if (shape.tokens <= shape.d_model + kHeadChunkRows) return {.rows = shape.tokens, .count = 1};
  return {.rows = kHeadChunkRows, .count = (shape.tokens + kHeadChunkRows - 1) / kHeadChunkRows};
}

std::int64_t head_chunk_savings(const HeadShape& shape) {
  if (head_chunks(shape).count == 1) return 0;
  const std::int64_t element = storage_bytes(storage_of(shape));
  const auto wider =
      static_cast<std::int64_t>(c10::elementSize(at::kFloat) - c10::elementSize(weight_gradient_type(shape.precision)));
  return ((shape.tokens - kHeadChunkRows) * element - shape.d_model * wider) * shape.vocab_size;
}

bool step_divides_head(const HeadShape& shape) {
  constexpr std::int64_t kMinSavings = std::int64_t{256} << 20;
  return head_chunk_savings(shape) >= kMinSavings;
}

at::ScalarType head_gradient_type(const HeadShape& shape) {
  return head_chunks(shape).count > 1 ? at::kFloat : weight_gradient_type(shape.precision);
}

ChunkedHead::Products::Products(const ProductLibrary& library, const HeadShape& shape, std::int64_t rows)
    : logits{library, library.workspace(), forward_problem(linear_shape(shape, rows))},
      input_gradient{library, library.workspace(),
                     input_gradient_problem(linear_shape(shape, rows), /*multiprocessors=*/0)},
      weight_gradient{library, library.workspace(), gradient_problem(shape, rows, /*accumulate=*/false)},
      added_weight_gradient{library, library.workspace(), gradient_problem(shape, rows, /*accumulate=*/true)} {}

ChunkedHead::ChunkedHead(const ProductLibrary& library, const HeadShape& shape)
    : shape_{shape}, chunks_{head_chunks(shape)}, whole_{library, shape, chunks_.rows} {
  if (const std::int64_t left = shape.tokens % chunks_.rows; left != 0) last_.emplace(library, shape, left);
}

void ChunkedHead::run(const HeadOperands& operands) {
  for (std::int64_t chunk = 0; chunk < chunks_.count; ++chunk) run_chunk(operands, chunk, /*adds=*/chunk > 0);
}

void ChunkedHead::run_chunk(const HeadOperands& operands, std::int64_t chunk, bool adds) {
  const std::int64_t first = chunk * chunks_.rows;
  const std::int64_t rows = std::min(chunks_.rows, shape_.tokens - first);
  Products& products = rows == chunks_.rows ? whole_ : last_.value();
  const void* const x = row_of<const char>(operands.x, shape_, first, shape_.d_model);
  products.logits(x, operands.weight, operands.logits);
  cross_entropy(operands, first, rows);
  products.input_gradient(operands.logits, operands.weight, row_of<char>(operands.dx, shape_, first, shape_.d_model));
  if (!adds) select_added(operands);
  Product& weight_gradient = adds ? products.added_weight_gradient : products.weight_gradient;
  weight_gradient(operands.logits, x, operands.dweight);
}

/// Selects the algorithms of the accumulating products, while dweight has no values to lose.
void ChunkedHead::select_added(const HeadOperands& operands) {
  if (chunks_.count == 1) return;
  whole_.added_weight_gradient.select(operands.logits, operands.x, operands.dweight);
  if (last_) last_->added_weight_gradient.select(operands.logits, operands.x, operands.dweight);
}

void ChunkedHead::cross_entropy(const HeadOperands& operands, std::int64_t first, std::int64_t rows) const {
  kernels::cross_entropy({.rows = rows,
                          .width = shape_.vocab_size,
                          .precision = storage_of(shape_),
                          .logits = operands.logits,
                          .targets = operands.targets + first,
                          .gradient = operands.logits,
                          .factor = operands.factor,
                          .scale = operands.scale,
                          .losses = operands.losses + first,
                          .lse = operands.lse == nullptr ? nullptr : operands.lse + first},
                         c10::cuda::getCurrentCUDAStream().stream());
}

}  // namespace tbench::model
