// The measured ceilings of a GPU with which studies of kernels compare rates, and the roofline's ridge point.
#pragma once

#include <optional>
#include <string>

#include "tbench/studies/study.hpp"

namespace tbench::studies {

/// A measured rate.
struct Ceiling {
  double per_second{};  // FLOP or bytes
  std::string of;       // what was measured: `a copy`
};

/// Returns the case of a large matrix product in the precision.
[[nodiscard]] CaseId products_case(const std::string& precision);

/// Returns the rate of a large matrix product in the precision, or nullopt if it was not measured.
[[nodiscard]] std::optional<Ceiling> compute_ceiling(const StudyMeasurements& all, const std::string& precision);

/// Returns the rate of reads and writes of copy_case(). If it was not measured, returns the rate of the fastest copies
/// from device to device in the traces of training steps that have at least 16 MiB each. Returns nullopt without both.
[[nodiscard]] std::optional<Ceiling> memory_ceiling(const StudyMeasurements& all);

/// Both ceilings.
struct Roofline {
  Ceiling compute;
  Ceiling memory;
  /// Returns the ridge point in FLOP per byte: below it, the memory bandwidth limits a kernel.
  [[nodiscard]] double ridge() const { return compute.per_second / memory.per_second; }
  /// Returns whether the memory bandwidth limits an operation with this arithmetic intensity.
  [[nodiscard]] bool is_memory_bound(double intensity) const { return intensity < ridge(); }
  /// Returns `the ridge point of 16.56 FLOP/byte (50.00 TFLOP/s of a large product in fp32 over 3.020 TB/s of a copy)`.
  [[nodiscard]] std::string ridge_text() const;
};

/// Returns the roofline of the precision, or nullopt if a ceiling is unknown.
[[nodiscard]] std::optional<Roofline> roofline_of(const StudyMeasurements& all, const std::string& precision);

}  // namespace tbench::studies
