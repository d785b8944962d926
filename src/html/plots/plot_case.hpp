// The cases of a page as its plots see them, and how they are grouped and named.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "html/charts/marks.hpp"
#include "html/plots/compared_files.hpp"
#include "tbench/core/record.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::html {

/// A record with its indexes on the page.
struct PlotCase {
  const Record* record{};
  std::size_t index{};  // in the records of all files
  std::size_t file{};   // index of its file
  std::map<std::string, double> counters{};

  /// Returns a counter times `factor`, or nullopt if the record does not have it.
  [[nodiscard]] std::optional<double> counter(const std::string& name, double factor = 1) const;
  /// Returns the value of a key; empty if the case does not have it.
  [[nodiscard]] std::string value(std::string_view key) const;
};

using Cases = std::vector<const PlotCase*>;
using Keys = std::vector<std::string>;
using ValueOf = std::function<std::optional<double>(const PlotCase&)>;
using NameOf = std::function<std::string(const PlotCase&)>;

/// Everything that the plots of a page show.
class PlotData {
 public:
  /// @param results      must outlive this object
  /// @param comparisons  must outlive this object
  PlotData(std::span<const results::NamedResults> results, std::span<const FileComparison> comparisons);
  PlotData(const PlotData&) = delete;
  PlotData& operator=(const PlotData&) = delete;

  [[nodiscard]] const Cases& cases() const { return all_; }
  [[nodiscard]] std::span<const FileComparison> comparisons() const { return comparisons_; }
  [[nodiscard]] std::size_t files() const { return labels_.size(); }
  [[nodiscard]] const std::string& label(std::size_t file) const { return labels_.at(file); }
  /// Returns the colour of a case's implementation, as CSS.
  /// @param shade  share of the text colour in it
  [[nodiscard]] std::string colour(const PlotCase& of, double shade) const;

 private:
  std::vector<std::string> labels_;
  std::vector<PlotCase> cases_;
  Cases all_;  // pointers to cases_
  std::map<std::string, std::size_t> slots_;
  std::span<const FileComparison> comparisons_;
};

/// Returns the cases that pass, in their order.
[[nodiscard]] Cases only(const Cases& cases, const std::function<bool(const PlotCase&)>& passes);

/// Returns a function that reads a counter times `factor`.
[[nodiscard]] ValueOf counter(std::string name, double factor = 1);

/// Returns the cases by name, in the order in which the names first appear.
[[nodiscard]] std::vector<Cases> grouped(const Cases& cases, const NameOf& name_of);
[[nodiscard]] std::vector<Cases> by_family(const Cases& cases);
/// Returns the cases by the values of `keys`.
[[nodiscard]] std::vector<Cases> by_keys(const Cases& cases, const Keys& keys);

/// Returns the keys whose values differ between the cases, in the order in which the cases name them.
[[nodiscard]] Keys varying(const Cases& cases);
[[nodiscard]] bool contains(const Keys& keys, std::string_view key);
/// Returns the keys that are not in `others`.
[[nodiscard]] Keys without(const Keys& keys, const Keys& others);

/// Returns the values of `keys` in the order of the case's name. A number has its key before it.
[[nodiscard]] std::string name_by(const PlotCase& of, const Keys& keys);
/// Returns the implementation, or an empty text.
[[nodiscard]] std::string implementation(const PlotCase& of);

/// Returns the title of a panel: the family, the values of the panel's keys, and what else all cases share.
[[nodiscard]] std::string titled(const Cases& cases, const Keys& panel);

/// Returns one process per case and file: the process with the middle value.
[[nodiscard]] Cases middles(const Cases& cases, const ValueOf& value_of);

/// Returns the facts of a value of a case for its tooltip.
[[nodiscard]] PointFacts facts_of(const PlotCase& of, std::string unit);

}  // namespace tbench::html
