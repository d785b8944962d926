// The tables of a profile, one function each, and what they have in common. What each shows is in
// src/profile/README.md.
#pragma once

#include <string>
#include <vector>

#include "tbench/profile/profile_page.hpp"
#include "tbench/render/table.hpp"

namespace tbench::profile {

// table_source.cpp: how figures are written, and what shares are of.

/// A profile and how to show it. Counts and totals are per step.
class TableSource {
 public:
  /// @param profile, options  must outlive this
  TableSource(const Profile& profile, const TableOptions& options) : profile_{profile}, options_{options} {}

  [[nodiscard]] const Profile& profile() const { return profile_; }
  [[nodiscard]] const TableOptions& options() const { return options_; }

  [[nodiscard]] std::string ms(std::int64_t total_ns) const;
  [[nodiscard]] std::string count(std::int64_t n) const;
  [[nodiscard]] std::string megabytes(std::int64_t bytes) const;
  /// Returns the share in the time of all operations, in percent.
  [[nodiscard]] std::string share(std::int64_t ns) const;
  [[nodiscard]] std::string name_of(const KernelTime& kernel) const;
  /// The time of all operations of a phase: what the shares of its kernels are of.
  [[nodiscard]] std::int64_t phase_ns(std::size_t phase) const;
  [[nodiscard]] std::int64_t class_ns(std::size_t phase, KernelClass kernel_class) const;

 private:
  const Profile& profile_;
  const TableOptions& options_;
};

/// Formats the time of one thing, whatever the number of steps.
[[nodiscard]] std::string microseconds(double ns);
[[nodiscard]] std::string microseconds(std::int64_t ns);
/// Returns the share in percent; 0 of nothing.
[[nodiscard]] std::string percent_of(std::int64_t part, std::int64_t whole);

/// Left-aligned columns, then right-aligned ones.
[[nodiscard]] std::vector<render::Column> columns_of(std::vector<std::string> texts, std::vector<std::string> numbers);
/// Returns the columns with numbers that let some go where a terminal is narrow, the last of them first.
[[nodiscard]] std::vector<render::Column> spared(std::vector<render::Column> columns,
                                                 const std::vector<std::string>& headers);

/// The largest share of class `other` in the operations' time of which a reader is not told.
inline constexpr double kMaxOtherShare = 0.02;

// range_tables.cpp
[[nodiscard]] render::Table ranges_table(const TableSource& source);
[[nodiscard]] render::Table softmax_vs_matmul_table(const TableSource& source);

// kernel_tables.cpp
[[nodiscard]] render::Table phases_table(const TableSource& source);
[[nodiscard]] render::Table gemm_share_table(const TableSource& source);
[[nodiscard]] render::Table top_kernels_table(const TableSource& source);
[[nodiscard]] render::Table kernels_table(const TableSource& source);
[[nodiscard]] render::Table non_gemm_table(const TableSource& source);
[[nodiscard]] render::Table classes_table(const TableSource& source);

// launch_tables.cpp
[[nodiscard]] render::Table devices_table(const TableSource& source);
[[nodiscard]] render::Table launches_table(const TableSource& source);
[[nodiscard]] render::Table calls_table(const TableSource& source);
[[nodiscard]] render::Table copies_table(const TableSource& source);

}  // namespace tbench::profile
