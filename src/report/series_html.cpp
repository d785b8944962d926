// Series as one HTML page. Runs are written once and series refer to them: a page of thousands of series stays small.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "history_database.hpp"
#include "html_page.hpp"
#include "tbench/core/error.hpp"
#include "tbench/report/series.hpp"

namespace tbench::report {
namespace {

constexpr int kDigits = 5;

/// A machine's runs, by when they began.
class Machine {
 public:
  void add(const SeriesPoint& point) { index_.emplace(key_of(point), 0); }
  void number() {
    std::size_t next = 0;
    for (auto& [key, index] : index_) index = next++;
  }
  [[nodiscard]] std::size_t index_of(const SeriesPoint& point) const { return index_.at(key_of(point)); }
  [[nodiscard]] Json runs() const {
    Json runs = Json::array();
    for (const auto& [key, index] : index_) {
      const auto& [started, commit, epoch, is_valid] = key;
      Json& run = runs.emplace_back(Json{{"started", started}, {"commit", commit}, {"epoch", epoch}});
      if (!is_valid) run["invalid"] = true;
    }
    return runs;
  }

 private:
  using Key = std::tuple<std::string, std::string, std::string, bool>;
  static Key key_of(const SeriesPoint& point) { return {point.started, point.commit, point.epoch, point.is_valid}; }
  std::map<Key, std::size_t> index_;
};

/// The history's machines in the order in which series name them.
class Machines {
 public:
  explicit Machines(std::span<const Series> all) {
    for (const Series& series : all) {
      const auto [found, is_new] = index_.emplace(series.fingerprint, machines_.size());
      if (is_new) machines_.emplace_back(series.fingerprint, Machine{});
      for (const SeriesPoint& point : series.points) machines_[found->second].second.add(point);
    }
    for (auto& [label, machine] : machines_) machine.number();
  }
  [[nodiscard]] std::size_t index_of(const std::string& fingerprint) const { return index_.at(fingerprint); }
  [[nodiscard]] const Machine& at(std::size_t index) const { return machines_[index].second; }
  [[nodiscard]] Json json() const {
    Json json = Json::array();
    for (const auto& [label, machine] : machines_) json.push_back({{"label", label}, {"runs", machine.runs()}});
    return json;
  }

 private:
  std::map<std::string, std::size_t> index_;
  std::vector<std::pair<std::string, Machine>> machines_;
};

Json number_or_null(const std::optional<double>& value, int digits) {
  return value ? Json(rounded(*value, digits)) : Json(nullptr);
}

void add_points(Json& json, const Series& series, const Machine& machine) {
  for (const char* name : {"runs", "ms", "spread", "peak_bytes", "n", "regressed", "changes"}) {
    json[name] = Json::array();
  }
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const SeriesPoint& point = series.points[i];
    json["runs"].push_back(machine.index_of(point));
    json["ms"].push_back(
        number_or_null(point.time ? std::optional{to_milliseconds(*point.time)} : std::nullopt, kDigits));
    json["spread"].push_back(number_or_null(point.spread, 3));
    json["peak_bytes"].push_back(point.peak_bytes ? Json(*point.peak_bytes) : Json(nullptr));
    json["n"].push_back(point.processes);
    if (point.has_regressed) json["regressed"].push_back(i);
    if (point.status != Status::kOk) json["status"][std::to_string(i)] = to_string(point.status);
  }
  for (const ChangePoint& change : series.changes) {
    json["changes"].push_back({change.index, rounded(std::exp(change.magnitude), kDigits)});
  }
}

}  // namespace

Json series_page_data(std::span<const Series> series) {
  const Machines machines{series};
  PageFamilies families;
  for (const Series& s : series) families.index_of(case_of_name(s.name));
  Json records = Json::array();
  for (const Series& s : series) {
    const CaseId id = case_of_name(s.name);
    const std::size_t machine = machines.index_of(s.fingerprint);
    Json& json = records.emplace_back(
        Json{{"file", machine}, {"family", families.index_of(id)}, {"values", families.values(id)}});
    add_points(json, s, machines.at(machine));
  }
  return {{"files", machines.json()}, {"families", families.json()}, {"records", std::move(records)}};
}

std::string series_html(std::span<const Series> series) {
  std::size_t values = 0;
  for (const Series& s : series) values += s.points.size();
  if (values > kMostPageValues) {
    throw UsageError{fmt::format(
        "-o: {} series have {} values, and a page holds {}; give a pattern that fewer cases match, or fewer --nights",
        series.size(), values, kMostPageValues)};
  }
  const HtmlPage page{.title = "transformer_bench history",
                      .heading = "transformer_bench: history",
                      .filter_label = "Filter the series",
                      .main = "history.html",
                      .scripts = {"series.js", "filters.js", "history.js"}};
  return html_page(page, series_page_data(series));
}

}  // namespace tbench::report
