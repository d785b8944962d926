// The tables of a profile, with one function per table, and the formatting that they share. src/profile/README.md
// describes what each table shows.
#pragma once

#include <string>
#include <vector>

#include "tbench/profile/profile_page.hpp"
#include "tbench/render/table.hpp"

namespace tbench::profile {

// table_source.cpp: the format of figures, and the denominators of shares.

/// A profile with the options of its tables. Formats counts and totals per step.
class TableSource {
 public:
  /// @param profile, options  must outlive this
  TableSource(const Profile& profile, const TableOptions& options) : profile_{profile}, options_{options} {}

  [[nodiscard]] const Profile& profile() const { return profile_; }
  [[nodiscard]] const TableOptions& options() const { return options_; }

  [[nodiscard]] std::string ms(std::int64_t total_ns) const;
  [[nodiscard]] std::string count(std::int64_t n) const;
  [[nodiscard]] std::string megabytes(std::int64_t bytes) const;
  /// Returns the share of `ns` in the time of all operations, in percent.
  [[nodiscard]] std::string share(std::int64_t ns) const;
  [[nodiscard]] std::string name_of(const KernelTime& kernel) const;
  /// Returns the time of all operations of a phase. The shares of its kernels are relative to this time.
  [[nodiscard]] std::int64_t phase_ns(std::size_t phase) const;
  [[nodiscard]] std::int64_t class_ns(std::size_t phase, KernelClass kernel_class) const;

 private:
  const Profile& profile_;
  const TableOptions& options_;
};

/// Formats the time of a single call or gap, which is not divided by the number of steps.
[[nodiscard]] std::string microseconds(double ns);
[[nodiscard]] std::string microseconds(std::int64_t ns);
/// Returns `part` as a percentage of `whole`, or 0 if `whole` is not positive.
[[nodiscard]] std::string percent_of(std::int64_t part, std::int64_t whole);

/// Returns left-aligned columns with the headers `texts`, followed by right-aligned columns with the headers `numbers`.
[[nodiscard]] std::vector<render::Column> columns_of(std::vector<std::string> texts, std::vector<std::string> numbers);
/// Marks the columns with the given headers as those that a narrow terminal drops, the last header first.
[[nodiscard]] std::vector<render::Column> spared(std::vector<render::Column> columns,
                                                 const std::vector<std::string>& headers);

/// The largest share of class `other` in the operations' time that is not reported to the reader.
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
