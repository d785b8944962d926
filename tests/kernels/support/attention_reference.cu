// Attention in float64. Each function of head, row and column computes one element of one matrix. for_each() calls them
// in a loop on the host, or in one thread per element on the GPU, for as many heads at a time as memory allows.
#include "support/attention_reference.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>

#include "tbench/cuda/error.hpp"

namespace tbench::kernels {
namespace {

constexpr int kTile = 16;                                  // threads per CTA: kTile x kTile elements,
constexpr int kRowTile = 256;                              // or kRowTile rows of one column
constexpr std::int64_t kMaxBytes = std::int64_t{4} << 30;  // for scores and their gradients at once

/// Memory of the executor with one matrix per head.
class Matrix {
 public:
  Matrix(Executor executor, std::int64_t heads, std::int64_t rows, std::int64_t columns)
      : executor_{executor}, head_size_{rows * columns}, columns_{columns} {
    size_ = static_cast<std::size_t>(heads * head_size_);
    if (executor == Executor::kHost) {
      host_.resize(size_);
    } else {
      void* memory{};
      TBENCH_CUDA_CHECK(cudaMalloc(&memory, size_ * sizeof(Uncertain)));
      device_.reset(static_cast<Uncertain*>(memory));
    }
  }

  struct View {
    Uncertain* data;
    std::int64_t columns;
    __host__ __device__ Uncertain& operator()(std::int64_t row, std::int64_t column) const {
      return data[row * columns + column];
    }
  };
  /// The matrices of all heads.
  struct Views {
    Uncertain* data;
    std::int64_t head_size, columns;
    __host__ __device__ View of(std::int64_t head) const { return {data + head * head_size, columns}; }
  };
  [[nodiscard]] Views views() {
    return {executor_ == Executor::kHost ? host_.data() : device_.get(), head_size_, columns_};
  }

  /// Appends the matrices of the first `heads` heads.
  void append_to(std::vector<Uncertain>& all, std::int64_t heads) const {
    const auto count = static_cast<std::size_t>(heads * head_size_);
    if (executor_ == Executor::kHost) {
      all.insert(all.end(), host_.begin(), host_.begin() + static_cast<std::ptrdiff_t>(count));
    } else if (count > 0) {
      all.resize(all.size() + count);
      TBENCH_CUDA_CHECK(cudaMemcpy(&*(all.end() - static_cast<std::ptrdiff_t>(count)), device_.get(),
                                   count * sizeof(Uncertain), cudaMemcpyDeviceToHost));
    }
  }

 private:
  struct Free {
    void operator()(Uncertain* memory) const { cuda::log_failure(cudaFree(memory)); }
  };
  Executor executor_;
  std::int64_t head_size_, columns_;
  std::size_t size_{};
  std::vector<Uncertain> host_;
  std::unique_ptr<Uncertain, Free> device_;
};

__host__ __device__ double square(double x) { return x * x; }

/// Variance of rounding `x` with unit round-off u, for errors of at least `smallest`.
__host__ __device__ double rounding(double x, double u, double smallest) {
  const double largest_error = fmax(u * fabs(x), smallest);
  return square(largest_error) / 3;
}

__host__ __device__ Uncertain rounded(Uncertain x, double u, double smallest) {
  return {x.value, x.variance + rounding(x.value, u, smallest)};
}

/// A sum of products as a tensor core computes it.
class Accumulator {
 public:
  __host__ __device__ void add(Uncertain a, Uncertain b) {
    sum_.value += a.value * b.value;
    sum_.variance += square(a.value) * b.variance + a.variance * square(b.value);
    squares_ += square(a.value * b.value);
    ++terms_;
  }
  __host__ __device__ Uncertain result(const ErrorModel& model) const {
    const double steps = (terms_ + 7) / 8;
    const double growth = model.truncates ? square(steps) : steps;
    return {sum_.value, sum_.variance + growth * square(model.accumulate) * (square(sum_.value) + squares_)};
  }

 private:
  Uncertain sum_;
  double squares_{};
  int terms_{};
};

__host__ __device__ std::uint32_t float_bits(float x) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(x);
#else
  return std::bit_cast<std::uint32_t>(x);
#endif
}

/// One head's rows of a tensor of the problem, read as the kernels' operands.
struct Rows {
  const void* data;
  std::int64_t offset, stride;  // in elements
  Precision precision;
  double input;  // ErrorModel::input

  __host__ __device__ Uncertain operator()(std::int64_t row, std::int64_t column) const {
    const std::int64_t at = offset + row * stride + column;
    double x{};
    if (precision == Precision::kBf16) {
      x = static_cast<double>(__bfloat162float(static_cast<const __nv_bfloat16*>(data)[at]));
    } else if (precision == Precision::kFp16) {
      x = static_cast<double>(__half2float(static_cast<const __half*>(data)[at]));
    } else {
      x = static_cast<double>(static_cast<const float*>(data)[at]);
    }
    if (input == 0) return {x, 0};
    // A number with TF32's 11 significant bits is not rounded: nothing is left once they are cut off.
    const bool is_tf32 = (float_bits(static_cast<float>(x)) & 0x1fffU) == 0;
    return {x, is_tf32 ? 0 : rounding(x, input, 0)};
  }
};

/// One head: its operands and the matrices computed from them. Each function computes one element of one matrix, given
/// the matrices that compute() makes before it.
struct Head {
  AttentionShape shape;
  double scale;
  ErrorModel model;
  Rows q, k, v, grad_o;
  Matrix::View p;      // [seq_q, seq_kv]; scores, then probabilities
  Matrix::View ds;     // [seq_q, seq_kv]; the scores' gradient
  Matrix::View delta;  // [seq_q, 1]; sum of grad_o * o
  Matrix::View keys;   // [seq_q, head_dim]; p k, the mean of the keys that a query sees
  Matrix::View o, lse, dq, dk, dv;

  /// Number of keys that query i sees, which are the first ones.
  __host__ __device__ std::int64_t visible(std::int64_t i) const { return shape.causal ? i + 1 : shape.seq_kv; }

  /// s = scale * q k^T. In an exponent the absolute error counts. The exponential's own 2^-22 (2 ulp) and the float32
  /// subtraction of the maximum add to it.
  __host__ __device__ void score(std::int64_t i, std::int64_t j) const {
    if (j >= visible(i)) return;
    Accumulator sum;
    for (std::int64_t d = 0; d < shape.head_dim; ++d) sum.add(q(i, d), k(j, d));
    const Uncertain product = sum.result(model);
    const double value = scale * product.value;
    p(i, j) = {value, square(scale) * product.variance + rounding(value, 0x1p-23, 0) + square(0x1p-22)};
  }

  /// lse = log of the sum of exp(s). Its error is the mean of the scores' errors, plus the logarithm's error and the
  /// error of a float32 sum, up to n roundings of 2^-24 each.
  __host__ __device__ void log_sum_exp(std::int64_t i) const {
    double largest = p(i, 0).value;
    for (std::int64_t j = 1; j < visible(i); ++j) largest = fmax(largest, p(i, j).value);
    double sum = 0;
    for (std::int64_t j = 0; j < visible(i); ++j) sum += exp(p(i, j).value - largest);
    const double value = largest + log(sum);
    const double terms = static_cast<double>(visible(i));
    double variance = rounding(value, 0x1p-22, 0) + square(0x1p-22) + terms * square(0x1p-24);
    for (std::int64_t j = 0; j < visible(i); ++j) variance += square(exp(p(i, j).value - value)) * p(i, j).variance;
    lse(i, 0) = {value, variance};
  }

  /// p = exp(s - lse): its relative error is the absolute error of the score.
  __host__ __device__ void probability(std::int64_t i, std::int64_t j) const {
    const double value = j < visible(i) ? exp(p(i, j).value - lse(i, 0).value) : 0;
    p(i, j) = {value, j < visible(i) ? square(value) * p(i, j).variance : 0};
  }

  __host__ __device__ void mean_key(std::int64_t i, std::int64_t d) const {
    double sum = 0;
    for (std::int64_t j = 0; j < visible(i); ++j) sum += p(i, j).value * k(j, d).value;
    keys(i, d) = {sum, 0};
  }

  /// An error of q is the same for the whole row: it changes lse by scale * error * mean of the keys.
  __host__ __device__ void add_query_error(std::int64_t i) const {
    for (std::int64_t d = 0; d < shape.head_dim; ++d) {
      lse(i, 0).variance += square(scale * keys(i, d).value) * q(i, d).variance;
    }
  }

  /// o = p v. Probabilities are rounded as operands, but not in the sum that normalises them; an error of an exponent
  /// is in both.
  __host__ __device__ void output(std::int64_t i, std::int64_t d) const {
    Accumulator sum;
    double normaliser = square(0x1p-22);
    for (std::int64_t j = 0; j < visible(i); ++j) {
      sum.add(rounded(p(i, j), model.operand, model.smallest), v(j, d));
      normaliser += p(i, j).variance;
    }
    Uncertain result = sum.result(model);
    result.variance += normaliser * square(result.value);
    o(i, d) = rounded(result, model.storage, model.smallest);
  }

  /// delta = sum of grad_o * o, in float32, with o as it was stored.
  __host__ __device__ void output_dot_gradient(std::int64_t i) const {
    Accumulator sum;
    for (std::int64_t d = 0; d < shape.head_dim; ++d) {
      sum.add({grad_o(i, d).value, 0}, rounded({o(i, d).value, 0}, model.storage, model.smallest));
    }
    delta(i, 0) = sum.result(model);
  }

  /// dP = grad_o v^T
  __host__ __device__ Uncertain probability_gradient(std::int64_t i, std::int64_t j) const {
    Accumulator sum;
    for (std::int64_t d = 0; d < shape.head_dim; ++d) sum.add(grad_o(i, d), v(j, d));
    return sum.result(model);
  }

  /// dS = p (dP - delta); p is recomputed from lse, whose rounding is one more error of its exponent. The error of
  /// delta is left out, because it is the same for the whole row: see query_gradient().
  __host__ __device__ void score_gradient(std::int64_t i, std::int64_t j) const {
    if (j >= visible(i)) {
      ds(i, j) = {0, 0};
      return;
    }
    p(i, j).variance += square(p(i, j).value) * rounding(lse(i, 0).value, 0x1p-24, 0);
    const Uncertain dp = probability_gradient(i, j);
    const double difference = dp.value - delta(i, 0).value;
    ds(i, j) = {p(i, j).value * difference,
                p(i, j).variance * square(difference) + square(p(i, j).value) * dp.variance};
  }

  /// dq = scale * dS k. An error of delta changes it by scale * error * mean of the keys.
  __host__ __device__ void query_gradient(std::int64_t i, std::int64_t d) const {
    Accumulator sum;
    for (std::int64_t j = 0; j < visible(i); ++j) {
      sum.add(rounded(ds(i, j), model.operand, model.smallest), k(j, d));
    }
    const Uncertain result = sum.result(model);
    const double variance = result.variance + delta(i, 0).variance * square(keys(i, d).value);
    dq(i, d) = rounded({scale * result.value, square(scale) * variance}, model.storage, model.smallest);
  }

  /// dk = scale * dS^T q, dv = p^T grad_o. If grad_o is one row for all queries, so are its errors and the errors of
  /// dP: they are factors before the sums of p q and p.
  __host__ __device__ void key_and_value_gradient(std::int64_t j, std::int64_t d) const {
    const bool one_row = grad_o.stride == 0;
    const double shared_score = one_row ? probability_gradient(0, j).variance : 0;
    const double shared_gradient = one_row ? grad_o(0, d).variance : 0;
    Accumulator key;
    Accumulator value;
    double queries = 0;
    double probabilities = 0;
    for (std::int64_t i = shape.causal ? j : 0; i < shape.seq_q; ++i) {
      const double probability = p(i, j).value;
      Uncertain score = ds(i, j);
      score.variance += square(probability) * (delta(i, 0).variance - shared_score);
      const Uncertain gradient = grad_o(i, d);
      key.add(rounded(score, model.operand, model.smallest), q(i, d));
      value.add(rounded(p(i, j), model.operand, model.smallest), {gradient.value, gradient.variance - shared_gradient});
      queries += probability * q(i, d).value;
      probabilities += probability;
    }
    Uncertain key_gradient = key.result(model);
    Uncertain value_gradient = value.result(model);
    key_gradient.variance += shared_score * square(queries);
    value_gradient.variance += shared_gradient * square(probabilities);
    dk(j, d) =
        rounded({scale * key_gradient.value, square(scale) * key_gradient.variance}, model.storage, model.smallest);
    dv(j, d) = rounded(value_gradient, model.storage, model.smallest);
  }
};

/// A tensor of the problem, from which each head's rows are read.
struct HeadRows {
  TensorView tensor;
  std::int64_t heads;  // of q, per sequence
  std::int64_t group;  // heads of q that share a head of this tensor
  Precision precision;
  double input;

  __host__ __device__ Rows of(std::int64_t head) const {
    return {.data = tensor.data,
            .offset = head / heads * tensor.strides[0] + head % heads / group * tensor.strides[1],
            .stride = tensor.strides[2],
            .precision = precision,
            .input = input};
  }
};

/// The heads that are computed at once, and the operands of all heads.
struct Heads {
  AttentionShape shape;
  double scale;
  ErrorModel model;
  HeadRows q, k, v, grad_o;
  Matrix::Views p, ds, delta, keys, o, lse, dq, dk, dv;
  std::int64_t first{};  // first of the heads computed at once, among all

  __host__ __device__ Head at(std::int64_t i) const {
    return {.shape = shape,
            .scale = scale,
            .model = model,
            .q = q.of(first + i),
            .k = k.of(first + i),
            .v = v.of(first + i),
            .grad_o = grad_o.of(first + i),
            .p = p.of(i),
            .ds = ds.of(i),
            .delta = delta.of(i),
            .keys = keys.of(i),
            .o = o.of(i),
            .lse = lse.of(i),
            .dq = dq.of(i),
            .dk = dk.of(i),
            .dv = dv.of(i)};
  }
};

template <class Element>
__global__ void for_each_kernel(Heads heads, std::int64_t rows, std::int64_t columns, Element element) {
  const std::int64_t row = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
  const std::int64_t column = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row < rows && column < columns) element(heads.at(blockIdx.z), row, column);
}

/// Calls element(head, row, column) for each element of `count` heads' matrices, in any order.
template <class Element>
void for_each(Executor executor, const Heads& heads, std::int64_t count, std::int64_t rows, std::int64_t columns,
              const Element& element) {
  if (executor == Executor::kHost) {
    for (std::int64_t head = 0; head < count; ++head) {
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t column = 0; column < columns; ++column) element(heads.at(head), row, column);
      }
    }
    return;
  }
  const dim3 block = columns == 1 ? dim3(1, kRowTile) : dim3(kTile, kTile);
  const auto blocks = [](std::int64_t extent, unsigned threads) {
    return (static_cast<unsigned>(extent) + threads - 1) / threads;
  };
  for_each_kernel<<<dim3(blocks(columns, block.x), blocks(rows, block.y), static_cast<unsigned>(count)), block>>>(
      heads, rows, columns, element);
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

void compute(const Heads& heads, std::int64_t count, bool backward, Executor executor) {
  const std::int64_t seq_q = heads.shape.seq_q;
  const std::int64_t seq_kv = heads.shape.seq_kv;
  const std::int64_t depth = heads.shape.head_dim;
  using Index = std::int64_t;
  const auto on = [&](Index rows, Index columns, auto element) {
    for_each(executor, heads, count, rows, columns, element);
  };
  on(seq_q, seq_kv, [] __host__ __device__(const Head& head, Index i, Index j) { head.score(i, j); });
  on(seq_q, 1, [] __host__ __device__(const Head& head, Index i, Index) { head.log_sum_exp(i); });
  on(seq_q, seq_kv, [] __host__ __device__(const Head& head, Index i, Index j) { head.probability(i, j); });
  on(seq_q, depth, [] __host__ __device__(const Head& head, Index i, Index d) { head.mean_key(i, d); });
  on(seq_q, 1, [] __host__ __device__(const Head& head, Index i, Index) { head.add_query_error(i); });
  on(seq_q, depth, [] __host__ __device__(const Head& head, Index i, Index d) { head.output(i, d); });
  if (!backward) return;
  on(seq_q, 1, [] __host__ __device__(const Head& head, Index i, Index) { head.output_dot_gradient(i); });
  on(seq_q, seq_kv, [] __host__ __device__(const Head& head, Index i, Index j) { head.score_gradient(i, j); });
  on(seq_q, depth, [] __host__ __device__(const Head& head, Index i, Index d) { head.query_gradient(i, d); });
  on(seq_kv, depth, [] __host__ __device__(const Head& head, Index j, Index d) { head.key_and_value_gradient(j, d); });
}

/// Number of heads that fit into kMaxBytes; at least one.
std::int64_t heads_at_once(const AttentionShape& shape, bool backward) {
  const std::int64_t bytes =
      shape.seq_q * shape.seq_kv * static_cast<std::int64_t>(sizeof(Uncertain)) * (backward ? 2 : 1);
  return std::clamp<std::int64_t>(kMaxBytes / std::max<std::int64_t>(bytes, 1), 1, shape.batch * shape.heads);
}

/// Adds the gradients of K or V, which were computed for every head of q, over the heads that share a head.
std::vector<Uncertain> summed_over_groups(const std::vector<Uncertain>& all, const AttentionShape& shape) {
  if (shape.group() == 1) return all;
  const auto of_head = static_cast<std::size_t>(shape.seq_kv * shape.head_dim);
  const auto group = static_cast<std::size_t>(shape.group());
  std::vector<Uncertain> sums(all.size() / group);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Uncertain& sum = sums[i / of_head / group * of_head + i % of_head];
    sum = {sum.value + all[i].value, sum.variance + all[i].variance};
  }
  return sums;
}

}  // namespace

ErrorModel ErrorModel::of(Precision precision) {
  const double accumulate = 0x1p-24;
  const double u = unit_roundoff(precision);
  const double underflow = precision == Precision::kFp16 ? 0x1p-25 : 0x1p-126;
  if (precision == Precision::kFp32) return {0x1p-22, 0x1p-22, u, underflow, accumulate, false};
  if (precision == Precision::kTf32) return {u, u, unit_roundoff(Precision::kFp32), underflow, accumulate, true};
  return {0, u, u, underflow, accumulate, true};
}

AttentionReference attention_reference(const AttentionProblem& problem, const TensorView& q, const TensorView& k,
                                       const TensorView& v, const std::optional<TensorView>& grad_o,
                                       Executor executor) {
  const AttentionShape& shape = problem.shape;
  const ErrorModel model = ErrorModel::of(problem.precision);
  const bool backward = grad_o.has_value();
  const std::int64_t grad_rows_q = backward ? shape.seq_q : 0, grad_rows_kv = backward ? shape.seq_kv : 0;
  const std::int64_t at_once = heads_at_once(shape, backward);
  const auto matrix = [&](std::int64_t rows, std::int64_t columns) { return Matrix{executor, at_once, rows, columns}; };
  Matrix p = matrix(shape.seq_q, shape.seq_kv);
  Matrix ds = matrix(grad_rows_q, shape.seq_kv);
  Matrix delta = matrix(grad_rows_q, 1);
  Matrix keys = matrix(shape.seq_q, shape.head_dim);
  Matrix o = matrix(shape.seq_q, shape.head_dim);
  Matrix lse = matrix(shape.seq_q, 1);
  Matrix dq = matrix(grad_rows_q, shape.head_dim);
  Matrix dk = matrix(grad_rows_kv, shape.head_dim);
  Matrix dv = matrix(grad_rows_kv, shape.head_dim);
  const auto rows = [&](const TensorView& tensor, std::int64_t group = 1) {
    return HeadRows{
        .tensor = tensor, .heads = shape.heads, .group = group, .precision = problem.precision, .input = model.input};
  };
  Heads heads{.shape = shape,
              .scale = problem.scale,
              .model = model,
              .q = rows(q),
              .k = rows(k, shape.group()),
              .v = rows(v, shape.group()),
              .grad_o = rows(grad_o.value_or(q)),
              .p = p.views(),
              .ds = ds.views(),
              .delta = delta.views(),
              .keys = keys.views(),
              .o = o.views(),
              .lse = lse.views(),
              .dq = dq.views(),
              .dk = dk.views(),
              .dv = dv.views()};
  AttentionReference all;
  for (const std::int64_t count = shape.batch * shape.heads; heads.first < count; heads.first += at_once) {
    const std::int64_t now = std::min(at_once, count - heads.first);
    compute(heads, now, backward, executor);
    o.append_to(all.o, now);
    lse.append_to(all.lse, now);
    dq.append_to(all.dq, now);
    dk.append_to(all.dk, now);
    dv.append_to(all.dv, now);
  }
  all.dk = summed_over_groups(all.dk, shape);
  all.dv = summed_over_groups(all.dv, shape);
  return all;
}

}  // namespace tbench::kernels
