// The benchmark's own output: a row for each record as it arrives, and what it all came to.
#pragma once

#include <cstddef>
#include <cstdio>
#include <map>
#include <optional>
#include <string>

#include "tbench/core/record.hpp"
#include "tbench/core/units.hpp"

namespace tbench::report {

class ConsoleTable {
 public:
  struct Options {
    std::size_t name_width{40};  // of the longest case name to come
    bool colour{};               // of the status
  };

  /// @param out  must outlive the table
  ConsoleTable(std::FILE* out, Options options) : out_{out}, options_{options} {}

  /// Prints one aligned line (before the first, the header) and flushes. The reason of a status other than `ok` is in
  /// the line: in place of the numbers if the case has no time, after them if it has.
  void row(const Record& record);

  /// Prints e.g. `60 cases: 54 ok, 4 oom, 2 unsupported; results in a.json; 3 min 12 s`. Counts the rows.
  /// @param path  of the results file, where there is one
  void summary(Seconds elapsed, const std::optional<std::string>& path);

 private:
  void header();

  std::FILE* out_;
  Options options_;
  bool has_header_{};
  std::map<Status, std::size_t> counts_;
};

}  // namespace tbench::report
