// Comparison of tensors with references: element-wise within tolerances, reduced on their device with one copy to the
// host for all of them; or exactly.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tbench/core/record.hpp"

namespace tbench::model {

/// Allowed errors. Every element has |actual - reference| <= relative * |reference| + of_rms * rms + absolute. Its rms
/// is the root mean square of the reference's elements that are not zero (most rows of an embedding's gradient are
/// zero), or of the elements in its last dimension if that is larger (rows of an LM head's gradient differ by orders of
/// magnitude). The whole has ||actual - reference|| <= of_norm * ||reference||, which sees what is a little wrong
/// everywhere. A row, along the last dimension, has ||actual - reference|| <= sqrt(elements) * (of_row_norm * the
/// larger rms above + what the row is allowed besides).
struct Tolerance {
  double relative{};
  double of_rms{};
  double absolute{};
  double of_norm{std::numeric_limits<double>::infinity()};
  double of_row_norm{std::numeric_limits<double>::infinity()};

  bool operator==(const Tolerance&) const = default;
};

/// Returns what is allowed where a case has some 200 comparisons instead of one: bounds grow with the logarithm of the
/// count at most, by a factor of 1.6 from a budget of 1 in 4,000.
[[nodiscard]] Tolerance widened(const Tolerance& tolerance);

/// The largest Verification::worst_error, for an element that is NaN or infinite, or off where nothing is allowed.
inline constexpr double kWorstErrorCap = 1e9;

class Comparison {
 public:
  /// One of several tensors that lie one behind the other.
  struct Part {
    std::string name;
    std::vector<std::int64_t> shape;
  };

  /// Enqueues the comparison of all elements: in float64 if either side has it, in float32 otherwise, whose difference
  /// of two such numbers is off by a rounding of that difference. Any strides; the same device. An element that is NaN
  /// or infinite on either side fails; so does a difference of shapes. Does not synchronise.
  /// @param row_allowance  what every element of a row, along the last dimension, may be off besides: float64, one
  ///                       element a row; or undefined
  void add(std::string name, const at::Tensor& actual, const at::Tensor& reference, const Tolerance& tolerance,
           const at::Tensor& row_allowance = {});
  /// The same of several tensors at once, for the price of one.
  /// @param actual, reference  flat, of the parts' elements in order
  /// @param tolerance          of an element alone
  /// @throws                   std::invalid_argument  for another tolerance
  void add(std::vector<Part> parts, const at::Tensor& actual, const at::Tensor& reference, const Tolerance& tolerance);
  /// Does the same as the first add(), but enqueues the comparison together with others of the same shape, types and
  /// tolerance, once there are 64 MiB of them, by compare_waiting() or at the end: a fraction of the launches. Keeps
  /// both tensors until then, and whatever they are views of; neither may change meanwhile.
  void add_batched(std::string name, const at::Tensor& actual, const at::Tensor& reference, const Tolerance& tolerance);
  void compare_waiting();
  /// The verdict over everything added. Synchronises.
  /// @param reference  what Verification::reference says
  [[nodiscard]] Verification finish(std::string reference);

 private:
  struct Entry {
    std::vector<Part> parts;
    std::string shape_error{};  // empty: the shapes agree
    std::int64_t elements{};
    // Results of the reduction: compare.cpp has the order. Undefined where the shapes differ.
    at::Tensor values{};  // of the errors' dtype
    at::Tensor counts{};  // int64

    [[nodiscard]] std::string element_text(double index) const;
    void note_in(Verification& result, const double* value, const double* count) const;
  };
  /// Tensors of one shape, and the places of their entries.
  struct Batch {
    Tolerance tolerance{};
    std::vector<at::Tensor> actual{}, reference{};
    std::vector<std::size_t> entries{};

    [[nodiscard]] bool takes(const at::Tensor& a, const at::Tensor& r, const Tolerance& t) const;
  };
  void add_now(std::vector<Part> parts, const at::Tensor& actual, const at::Tensor& reference,
               const Tolerance& tolerance, const at::Tensor& row_allowance);
  /// Makes the last entry. False, and the entry says why, if there is nothing to compare.
  bool enter(std::vector<Part> parts, const at::Tensor& actual, const at::Tensor& reference);
  void compare(const Batch& batch, const at::Tensor& row_allowance);

  std::vector<Entry> entries_;  // in the order in which they were added
  std::vector<Batch> waiting_;
};

/// Returns by how much the sums of each row's elements with independent random signs may differ, at most with the
/// probability `budget` for any row: z of the norm of the row's errors with 2 exp(-z^2 / 2), as Hoeffding has it.
/// @param reference      float64, [rows, columns]
/// @param row_allowance  as Comparison::add() takes it
/// @return               [rows], float64
[[nodiscard]] at::Tensor signed_sum_bounds(const at::Tensor& reference, const Tolerance& tolerance,
                                           const at::Tensor& row_allowance, double budget);

/// A Comparison of one tensor. Synchronises.
[[nodiscard]] Verification compare_tensors(const std::string& name, const at::Tensor& actual,
                                           const at::Tensor& reference, const Tolerance& tolerance);

/// Whether both have the same bytes, of a NaN too. The same shape and dtype; contiguous or not. Synchronises.
[[nodiscard]] bool has_same_bytes(const at::Tensor& a, const at::Tensor& b);

/// Passes if all elements are equal, and none is NaN. The same shape, dtype and device; needs a byte per element.
/// Synchronises.
/// @param reference  what Verification::reference says
[[nodiscard]] Verification verify_equal(const std::string& name, const at::Tensor& actual, const at::Tensor& expected,
                                        std::string reference);

/// Returns the one that failed, else the one with the larger error.
[[nodiscard]] Verification worse_of(Verification a, Verification b);

}  // namespace tbench::model
