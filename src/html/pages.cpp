#include "tbench/html/pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "html/page.hpp"
#include "html/plots/plots.hpp"
#include "html/sections/section_figures.hpp"
#include "html/svg_file.hpp"
#include "tbench/core/error.hpp"
#include "tbench/render/markup.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/results/measured_case.hpp"

namespace tbench::html {
namespace {

constexpr int kDigits = 5;

/// A machine's runs, in order of their start. They are written once, and series refer to them by index, so that a page
/// of thousands of series stays small.
class Machine {
 public:
  void add(const history::SeriesPoint& point) { index_.emplace(key_of(point), 0); }
  void number() {
    std::size_t next = 0;
    for (auto& [key, index] : index_) index = next++;
  }
  [[nodiscard]] std::size_t index_of(const history::SeriesPoint& point) const { return index_.at(key_of(point)); }
  [[nodiscard]] results::Json runs() const {
    results::Json runs = results::Json::array();
    for (const auto& [key, index] : index_) {
      const auto& [started, commit, epoch, is_valid] = key;
      results::Json& run = runs.emplace_back(
          results::Json{{"started", started}, {"commit", render::format_commit(commit)}, {"epoch", epoch}});
      if (!is_valid) run["invalid"] = true;
    }
    return runs;
  }

 private:
  using Key = std::tuple<std::string, std::string, std::string, bool>;
  static Key key_of(const history::SeriesPoint& point) {
    return {point.started, point.commit, point.epoch, point.is_valid};
  }
  std::map<Key, std::size_t> index_;
};

/// The machines of a history, in the order in which they first appear in the series.
class Machines {
 public:
  explicit Machines(std::span<const history::Series> all) {
    for (const history::Series& series : all) {
      const auto [found, is_new] = index_.emplace(series.fingerprint, machines_.size());
      if (is_new) machines_.emplace_back(series.fingerprint, Machine{});
      for (const history::SeriesPoint& point : series.points) machines_[found->second].second.add(point);
    }
    for (auto& [label, machine] : machines_) machine.number();
  }
  [[nodiscard]] std::size_t index_of(const std::string& fingerprint) const { return index_.at(fingerprint); }
  [[nodiscard]] const Machine& at(std::size_t index) const { return machines_[index].second; }
  [[nodiscard]] results::Json json() const {
    results::Json json = results::Json::array();
    for (const auto& [label, machine] : machines_) json.push_back({{"label", label}, {"runs", machine.runs()}});
    return json;
  }

 private:
  std::map<std::string, std::size_t> index_;
  std::vector<std::pair<std::string, Machine>> machines_;
};

results::Json milliseconds_or_null(const std::optional<Seconds>& time) {
  return time ? results::Json(rounded(to_milliseconds(*time), kDigits)) : results::Json(nullptr);
}

results::Json number_or_null(const std::optional<double>& value, int digits) {
  return value ? results::Json(rounded(*value, digits)) : results::Json(nullptr);
}

void add_points(results::Json& json, const history::Series& series, const Machine& machine) {
  for (const char* name : {"runs", "ms", "spread", "peak_bytes", "n", "regressed", "changes"}) {
    json[name] = results::Json::array();
  }
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const history::SeriesPoint& point = series.points[i];
    json["runs"].push_back(machine.index_of(point));
    json["ms"].push_back(milliseconds_or_null(point.time));
    json["spread"].push_back(number_or_null(point.dispersion, 3));
    json["peak_bytes"].push_back(point.peak_bytes ? results::Json(*point.peak_bytes) : results::Json(nullptr));
    json["n"].push_back(point.processes);
    if (point.has_regressed) json["regressed"].push_back(i);
    if (point.status != Status::kOk) json["status"][std::to_string(i)] = to_string(point.status);
  }
  if (std::ranges::any_of(series.points, [](const auto& point) { return point.device_time.has_value(); })) {
    for (const history::SeriesPoint& point : series.points)
      json["device_ms"].push_back(milliseconds_or_null(point.device_time));
  }
  for (const stats::ChangePoint& change : series.changes) {
    json["changes"].push_back({change.index, rounded(std::exp(change.magnitude), kDigits)});
  }
}

/// Returns the markup of a section's charts; empty if it has none.
std::string plots_html(const studies::StudySection& section, const SectionFigures& plots) {
  if (plots.figures.empty()) return "";
  std::string html =
      fmt::format("<section aria-label=\"Plots: {}\"><div class=\"panels\">\n", render::escape_markup(section.caption));
  for (const std::string& figure : plots.figures) html += figure;
  html += "</div>";
  if (plots.left_out > 0) html += fmt::format("<p class=\"note\">{} more plots are left out.</p>", plots.left_out);
  return html + "</section>\n";
}

/// Returns links to the chapters of a report; empty without chapters.
std::string contents_html(const studies::StudyReport& report) {
  std::string links;
  std::size_t chapter = 0;
  for (const studies::StudySection& section : report.sections) {
    if (section.heading.empty()) continue;
    links +=
        fmt::format("<li><a href=\"#chapter-{}\">{}</a></li>\n", ++chapter, render::escape_markup(section.heading));
  }
  return links.empty() ? "" : fmt::format("<nav aria-label=\"Contents\"><ul>\n{}</ul></nav>\n", links);
}

}  // namespace

std::string html_report(std::span<const results::NamedResults> results) {
  const std::vector<FileComparison> comparisons = compare_with_first(results);
  const HtmlPage page{.title = "transformer_bench report",
                      .heading = "transformer_bench",
                      .filter_label = "Filter plots and table",
                      .main = "report.html",
                      .scripts = {"comparison.js", "flame.js", "cases.js", "filters.js", "main.js"},
                      .figures = plots_html(results, comparisons)};
  return html_page(page, report_data(results, comparisons));
}

results::Json series_page_data(std::span<const history::Series> series) {
  const Machines machines{series};
  PageFamilies families;
  for (const history::Series& s : series) families.index_of(results::case_of_name(s.name));
  results::Json records = results::Json::array();
  for (const history::Series& s : series) {
    const CaseId id = results::case_of_name(s.name);
    const std::size_t machine = machines.index_of(s.fingerprint);
    results::Json& json = records.emplace_back(
        results::Json{{"file", machine}, {"family", families.index_of(id)}, {"values", families.values(id)}});
    add_points(json, s, machines.at(machine));
  }
  return {{"files", machines.json()}, {"families", families.json()}, {"records", std::move(records)}};
}

std::string series_html(std::span<const history::Series> series) {
  std::size_t values = 0;
  for (const history::Series& s : series) values += s.points.size();
  if (values > kMaxPageValues) {
    throw UsageError{fmt::format(
        "-o: {} series have {} values, and a page holds {}; give a pattern that fewer cases match, or fewer --nights",
        series.size(), values, kMaxPageValues)};
  }
  const HtmlPage page{.title = "transformer_bench history",
                      .heading = "transformer_bench: history",
                      .filter_label = "Filter the series",
                      .main = "history.html",
                      .scripts = {"series.js", "filters.js", "history.js"}};
  return html_page(page, series_page_data(series));
}

std::string study_html(const studies::StudyReport& report) {
  std::string body;
  for (const std::string& answer : report.answers) {
    body += fmt::format("<p><strong>{}</strong></p>\n", render::escape_markup(answer));
  }
  const std::string contents = contents_html(report);
  std::string sources;
  for (const std::string& source : report.sources) sources += note_html(source);
  body += contents.empty() ? sources : contents;
  const std::vector<SectionFigures> figures = report_figures(report);
  std::size_t chapter = 0;
  for (std::size_t i = 0; i < report.sections.size(); ++i) {
    const studies::StudySection& section = report.sections[i];
    if (!section.heading.empty()) {
      body += fmt::format("<h2 id=\"chapter-{}\">{}</h2>\n", ++chapter, render::escape_markup(section.heading));
    }
    for (const std::string& sentence : section.sentences) {
      body += fmt::format("<p>{}</p>\n", render::escape_markup(sentence));
    }
    body += plots_html(section, figures[i]) + section.table().html(section.caption);
  }
  for (const std::string& note : report.notes) body += note_html(note);
  if (!report.commands.empty()) body += fmt::format("<section><h2>{}</h2>\n<ol>\n", studies::kNotMeasured);
  for (std::size_t i = 0; i < report.commands.size(); ++i) {
    body += fmt::format("<li id=\"how-{}\"><code>{}</code></li>\n", i + 1, render::escape_markup(report.commands[i]));
  }
  if (!report.commands.empty()) body += "</ol></section>\n";
  if (!contents.empty() && !sources.empty()) {
    body += fmt::format("<details><summary>Files: {}</summary>\n{}</details>\n", report.sources.size(), sources);
  }
  return plain_page(report.title, body);
}

std::vector<std::vector<StudyChart>> study_charts(const studies::StudyReport& report) {
  std::vector<std::vector<StudyChart>> charts;
  for (const SectionFigures& section : report_figures(report)) {
    std::vector<StudyChart>& files = charts.emplace_back();
    for (const std::string& figure : section.figures) {
      files.push_back({.title = figure_title(figure), .svg = svg_file(figure)});
    }
  }
  return charts;
}

}  // namespace tbench::html
