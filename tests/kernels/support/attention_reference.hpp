// Attention in float64. Every result has the standard deviation that rounding is expected to give it in a kernel of a
// given precision. Meant to be read, not to be fast; the same functions run on the host or on the GPU.
#pragma once

#include <optional>
#include <vector>

#include "tbench/kernels/attention.hpp"

namespace tbench::kernels {

/// A value of exact arithmetic and the variance that rounding adds to it.
struct Uncertain {
  double value{};
  double variance{};
};

/// Rounding in a kernel of some precision, from which the variances follow to first order.
///
/// A rounding to nearest with unit round-off u gives a relative error within +-u. If this error is taken as uniform,
/// its variance is u^2/3. This is an upper bound, because errors reach +-u only just above a power of two. Errors of
/// different elements are independent, so the variance of a sum is the sum of the variances of its terms (Higham and
/// Mary, SIAM J. Sci. Comput. 41, 2019: the error of a sum grows with the root of the sum of squares, not with the
/// sum).
///
/// If all rows of grad_o are one row in memory, they have the same rounding errors, and a key's row of dP has one error
/// for all queries. Such an error is a factor before a sum over the queries: it counts with the square of the sum, not
/// with the sum of squares.
struct ErrorModel {
  double input{};    // a matrix product's operand that is read from memory: 0 if it is used as it is stored
  double operand{};  // a computed operand: the probabilities, and dS
  double storage{};  // a result that is written
  /// Lower bound of the errors of computed operands and results: 2^-25, half of float16's smallest subnormal number.
  /// For types with float32's exponents it is 2^-126, below which exp2 gives 0.
  double smallest{};
  double accumulate{};  // one step of an accumulation in float32: 8 terms more
  /// Whether steps are added up in a tensor core, which truncates: errors of a long sum do not cancel and count in
  /// full, so that n steps give n * accumulate relative to the sum's magnitude. If false, additions round to nearest,
  /// and n steps give sqrt(n) * accumulate.
  bool truncates{};

  /// kBf16, kFp16: operands are exact as stored; computed operands round to the storage type.
  /// kTf32: all operands round to TF32's 11 bits (to nearest), and storage is float32.
  /// kFp32: three TF32 products. An operand splits into two numbers of 11 bits, and the product of the two low parts is
  ///        dropped: an error of 2^-22 of a product. The errors of kernels on CUDA cores are within this bound, too.
  ///        Long sums round to nearest.
  [[nodiscard]] static ErrorModel of(Precision precision);
};

enum class Executor { kHost, kDevice };

/// Contiguous results: o and dq are [batch, heads, seq_q, head_dim], dk and dv are [batch, kv_heads, seq_kv, head_dim],
/// and lse is [batch, heads, seq_q]. Gradients are empty without a grad_o. With shared heads of K and V, dk and dv may
/// have one rounding of every head of q, as if these were stored before they are added.
struct AttentionReference {
  std::vector<Uncertain> o, lse, dq, dk, dv;
};

/// Returns the required results of attention_forward() and, if there is a grad_o, of attention_backward(). The backward
/// pass is assumed to read o rounded to the storage type, and lse rounded to float32. Synchronises. Needs about 48
/// bytes * seq_q * seq_kv of memory, or 4 GiB if several heads need less.
/// @param q, k, v, grad_o  views as the kernels take them, in memory that `executor` can read
/// @throws  cuda::CudaError
[[nodiscard]] AttentionReference attention_reference(const AttentionProblem& problem, const TensorView& q,
                                                     const TensorView& k, const TensorView& v,
                                                     const std::optional<TensorView>& grad_o, Executor executor);

}  // namespace tbench::kernels
