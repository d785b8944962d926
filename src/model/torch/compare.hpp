// Compares tensors with references: element-wise within tolerances, or exactly. Comparisons within tolerances are
// reduced on the tensors' device, and one copy to the host fetches all results.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tbench/core/record.hpp"

namespace tbench::model {

/// Allowed errors. Every element has |actual - reference| <= relative * |reference| + of_rms * rms + absolute. Here rms
/// is the root mean square of the reference's nonzero elements, because most rows of an embedding's gradient are zero.
/// If the root mean square of the nonzero elements in the element's row, along the last dimension, is larger, rms is
/// that one, because rows of an LM head's gradient differ by orders of magnitude. The whole tensor has ||actual -
/// reference|| <= of_norm * ||reference||, which detects small errors in all elements. Each row has ||actual -
/// reference|| <= sqrt(elements) * (of_row_norm * rms + the row's additional allowance, see Comparison::add()).
struct Tolerance {
  double relative{};
  double of_rms{};
  double absolute{};
  double of_norm{std::numeric_limits<double>::infinity()};
  double of_row_norm{std::numeric_limits<double>::infinity()};

  bool operator==(const Tolerance&) const = default;
};

/// Returns the tolerance for a case that has some 200 comparisons instead of one. Bounds grow at most with the
/// logarithm of the number of comparisons: by a factor of 1.6 at a budget of 1 in 4,000.
[[nodiscard]] Tolerance widened(const Tolerance& tolerance);

/// The largest Verification::worst_error: the error of an element that is NaN or infinite, or that differs where the
/// tolerance is 0.
inline constexpr double kWorstErrorCap = 1e9;

class Comparison {
 public:
  /// One of several tensors that are concatenated and compared together.
  struct Part {
    std::string name;
    std::vector<std::int64_t> shape;
  };

  /// Enqueues the comparison of all elements, in float64 if either side has that type, otherwise in float32, where the
  /// difference of two numbers is off by at most one rounding. Strides may differ, the device must be the same. The
  /// comparison fails if an element is NaN or infinite on either side, or if the shapes differ. Does not synchronise.
  /// @param row_allowance  additional absolute error that every element of a row, along the last dimension, may have:
  ///                       float64, one element per row; or undefined
  void add(std::string name, const at::Tensor& actual, const at::Tensor& reference, const Tolerance& tolerance,
           const at::Tensor& row_allowance = {});
  /// Compares several concatenated tensors at once, at the cost of one comparison.
  /// @param actual, reference  flat tensors of the parts' elements, in order
  /// @param tolerance          tolerance whose of_rms, of_norm and of_row_norm are not used
  /// @throws                   std::invalid_argument  if the tolerance has of_rms, of_norm or of_row_norm
  void add(std::vector<Part> parts, const at::Tensor& actual, const at::Tensor& reference, const Tolerance& tolerance);
  /// Works like the first add(), but needs a fraction of the launches: it collects comparisons with the same shape,
  /// types and tolerance, and enqueues them together once there are 64 MiB of them, or in compare_waiting() or
  /// finish(). Keeps both tensors, and the storages that they are views of, until then; neither tensor may change
  /// meanwhile.
  void add_batched(std::string name, const at::Tensor& actual, const at::Tensor& reference, const Tolerance& tolerance);
  void compare_waiting();
  /// Returns the verdict of all comparisons. Synchronises.
  /// @param reference  text for Verification::reference
  [[nodiscard]] Verification finish(std::string reference);

 private:
  struct Entry {
    std::vector<Part> parts;
    std::string shape_error{};  // empty if the shapes agree
    std::int64_t elements{};
    // Results of the reduction, in the order that compare.cpp defines. Undefined if the shapes differ.
    at::Tensor values{};  // dtype as error_dtype() returns it
    at::Tensor counts{};  // int64

    [[nodiscard]] std::string element_text(double index) const;
    void note_in(Verification& result, const double* value, const double* count) const;
  };
  /// Tensors with the same shape that wait to be compared, and the indexes of their entries.
  struct Batch {
    Tolerance tolerance{};
    std::vector<at::Tensor> actual{}, reference{};
    std::vector<std::size_t> entries{};

    [[nodiscard]] bool takes(const at::Tensor& a, const at::Tensor& r, const Tolerance& t) const;
  };
  void add_now(std::vector<Part> parts, const at::Tensor& actual, const at::Tensor& reference,
               const Tolerance& tolerance, const at::Tensor& row_allowance);
  /// Appends an entry. Returns false, and notes the reason in the entry, if a tensor is missing or the shapes differ.
  bool enter(std::vector<Part> parts, const at::Tensor& actual, const at::Tensor& reference);
  void compare(const Batch& batch, const at::Tensor& row_allowance);

  std::vector<Entry> entries_;  // in the order in which they were added
  std::vector<Batch> waiting_;
};

/// Returns, for each row, the bound on the error of the sum of its elements with independent random signs. The
/// probability that any row of a right result exceeds its bound is at most `budget`: by Hoeffding's inequality, such a
/// sum of errors exceeds z times their norm with a probability of at most 2 exp(-z^2 / 2).
/// @param reference      float64, [rows, columns]
/// @param row_allowance  as Comparison::add() takes it
/// @return               [rows], float64
[[nodiscard]] at::Tensor signed_sum_bounds(const at::Tensor& reference, const Tolerance& tolerance,
                                           const at::Tensor& row_allowance, double budget);

/// Compares one tensor, as Comparison does. Synchronises.
[[nodiscard]] Verification compare_tensors(const std::string& name, const at::Tensor& actual,
                                           const at::Tensor& reference, const Tolerance& tolerance);

/// Whether both tensors have the same bytes; NaNs are compared bytewise, too. Shape and dtype must be the same, strides
/// may differ. Synchronises.
[[nodiscard]] bool has_same_bytes(const at::Tensor& a, const at::Tensor& b);

/// Passes if all elements are equal and none is NaN. Shape, dtype and device must be the same. Needs one byte per
/// element. Synchronises.
/// @param reference  what Verification::reference says
[[nodiscard]] Verification verify_equal(const std::string& name, const at::Tensor& actual, const at::Tensor& expected,
                                        std::string reference);

/// Returns the failed verification, or the one with the larger error if both passed or both failed.
[[nodiscard]] Verification worse_of(Verification a, Verification b);

}  // namespace tbench::model
