// Renders a comparison for programs.
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "tbench/compare/case_comparison.hpp"
#include "tbench/compare/comparison_output.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/markup.hpp"
#include "tbench/render/table.hpp"
#include "tbench/results/json_fields.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::compare {

// The following functions only write. json_fields.hpp finds them through the namespace of their arguments.
static void fields(results::FieldWriter& out, const SideOfCase& side) {
  out.field("status", std::string{to_string(side.status)});
  out.text_unless_empty("reason", side.reason);
  out.field("replicates", static_cast<std::int64_t>(side.replicates));
  out.field("time_s", side.time);
  out.field("relative_spread", side.dispersion);
  if (side.dispersion) out.field("spread_is_within_process", side.dispersion_is_within);
  out.field("device_time_s", side.device_time);
  out.field("sm_clock_hz", side.sm_clock);
  out.field("allocated_peak_bytes", side.peak_bytes);
  out.field("requested_peak_bytes", side.requested_peak_bytes);
  out.field("peak_share_at_clock", side.peak_share_at_clock);
  out.field("ceiling_share", side.ceiling_share);
}

static void fields(results::FieldWriter& out, const CaseComparison& c) {
  out.field("name", c.id.name());
  out.field("family", c.id.family());
  if (c.outcome) out.field("outcome", std::string{to_string(*c.outcome)});
  out.field("ratio", c.ratio);
  if (c.ratio_interval) {
    out.field("ratio_low", c.ratio_interval->low);
    out.field("ratio_high", c.ratio_interval->high);
    out.field("interval_is_within_process", c.interval_is_within);
  }
  out.field("device_ratio", c.device_ratio);
  if (c.device_ratio_interval) {
    out.field("device_ratio_low", c.device_ratio_interval->low);
    out.field("device_ratio_high", c.device_ratio_interval->high);
  }
  if (c.judged_by) out.field("judged_by", std::string{to_string(*c.judged_by)});
  if (c.spread_class) out.field("spread_class", std::string{to_string(*c.spread_class)});
  out.field("known_limit", c.known_limit);
  out.field("cycle_ratio", c.cycle_ratio);
  out.field("p_value", c.p_value);
  out.field("adjusted_p", c.adjusted_p);
  out.field("threshold", c.threshold);
  out.field("smallest_detectable_change", c.smallest_detectable);
  out.field("replicates_to_decide", c.replicates_to_decide);
  out.field("base", c.base);
  out.field("new", c.next);
  out.text_unless_empty("note", c.note);
}

static void fields(results::FieldWriter& out, const FamilyMean& mean) {
  out.field("family", mean.family);
  out.field("cases", static_cast<std::int64_t>(mean.cases));
  out.field("ratio", mean.ratio);
  out.field("device_ratio", mean.device_ratio);
  out.field("cycle_ratio", mean.cycle_ratio);
}

static void fields(results::FieldWriter& out, const SideFacts& side) {
  out.field("files", side.paths);
  out.text_unless_empty("device", side.device);
  out.field("uuids", side.uuids);
  out.text_unless_empty("build", side.build);
}

namespace {

constexpr std::array kCsvColumns{"case",
                                 "family",
                                 "outcome",
                                 "base_status",
                                 "new_status",
                                 "base_s",
                                 "new_s",
                                 "ratio",
                                 "ratio_low",
                                 "ratio_high",
                                 "cycle_ratio",
                                 "p_value",
                                 "adjusted_p",
                                 "threshold",
                                 "smallest_detectable",
                                 "base_n",
                                 "new_n",
                                 "base_bytes",
                                 "new_bytes",
                                 "base_peak_share_at_clock",
                                 "new_peak_share_at_clock",
                                 "base_ceiling_share",
                                 "new_ceiling_share",
                                 "base_device_s",
                                 "new_device_s",
                                 "device_ratio",
                                 "device_ratio_low",
                                 "device_ratio_high",
                                 "judged_by",
                                 "known_limit",
                                 "base_requested_bytes",
                                 "new_requested_bytes",
                                 "note"};

/// Returns the shortest text that reads back as the number; empty if there is none.
template <class T>
std::string text_of(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "";
}
std::string text_of(const std::optional<Seconds>& time) { return time ? fmt::format("{}", time->value) : ""; }

std::vector<std::string> csv_cells(const CaseComparison& c) {
  const auto& interval = c.ratio_interval;
  return {c.id.name(),
          c.id.family(),
          c.outcome ? std::string{to_string(*c.outcome)} : "",
          std::string{to_string(c.base.status)},
          std::string{to_string(c.next.status)},
          text_of(c.base.time),
          text_of(c.next.time),
          text_of(c.ratio),
          interval ? fmt::format("{}", interval->low) : "",
          interval ? fmt::format("{}", interval->high) : "",
          text_of(c.cycle_ratio),
          text_of(c.p_value),
          text_of(c.adjusted_p),
          fmt::format("{}", c.threshold),
          text_of(c.smallest_detectable),
          fmt::format("{}", c.base.replicates),
          fmt::format("{}", c.next.replicates),
          text_of(c.base.peak_bytes),
          text_of(c.next.peak_bytes),
          text_of(c.base.peak_share_at_clock),
          text_of(c.next.peak_share_at_clock),
          text_of(c.base.ceiling_share),
          text_of(c.next.ceiling_share),
          text_of(c.base.device_time),
          text_of(c.next.device_time),
          text_of(c.device_ratio),
          c.device_ratio_interval ? fmt::format("{}", c.device_ratio_interval->low) : "",
          c.device_ratio_interval ? fmt::format("{}", c.device_ratio_interval->high) : "",
          c.judged_by ? std::string{to_string(*c.judged_by)} : "",
          text_of(c.known_limit),
          text_of(c.base.requested_peak_bytes),
          text_of(c.next.requested_peak_bytes),
          c.note};
}

bool is_skipped(const CaseComparison& c) {
  return c.outcome == Outcome::kUndecided || c.outcome == Outcome::kNotJudged;
}

std::string message_of(const CaseComparison& c) {
  std::string text = c.outcome ? std::string{to_string(*c.outcome)} : "";
  if (c.ratio) text += fmt::format(" {:+.2f} %", 100 * (*c.ratio - 1));
  if (c.ratio_interval) {
    text += fmt::format(" ({:+.2f} .. {:+.2f})", 100 * (c.ratio_interval->low - 1), 100 * (c.ratio_interval->high - 1));
  }
  return c.note.empty() ? text : fmt::format("{}: {}", text, c.note);
}

render::JunitCase test_case(const CaseComparison& c, bool strict) {
  using Result = render::JunitCase::Result;
  const Result result = is_failed(c, strict) ? Result::kFailed : is_skipped(c) ? Result::kSkipped : Result::kPassed;
  return {.family = c.id.family(), .name = c.id.name(), .result = result, .message = message_of(c)};
}

}  // namespace

results::Json comparison_to_json(const Comparison& comparison, bool strict) {
  results::FieldWriter out{"comparison"};
  out.field("mode", std::string{comparison.cross ? "cross" : "verdicts"});
  if (comparison.apart) out.field("apart", std::string{to_string(*comparison.apart)});
  out.field("exit_status", std::int64_t{exit_status(comparison, strict)});
  out.field("base", comparison.base);
  out.field("new", comparison.next);
  out.field("differences", comparison.differences);
  out.field("warnings", comparison.warnings);
  std::map<std::string, std::int64_t> counts;
  for (const auto& [outcome, count] : count_outcomes(comparison)) {
    counts.emplace(to_string(outcome), static_cast<std::int64_t>(count));
  }
  out.field("outcomes", counts);
  out.field("families", comparison.families);
  out.field("only_in_base", comparison.only_in_base);
  out.field("only_in_new", comparison.only_in_next);
  out.field("cases", comparison.cases);
  return results::concluded("diff", comparison_conclusion(comparison), std::move(out).take());
}

std::string comparison_to_csv(const Comparison& comparison) {
  std::vector<render::Column> columns;
  for (const char* const name : kCsvColumns) columns.push_back({.header = name});
  render::Table table{std::move(columns)};
  for (const CaseComparison& c : comparison.cases) table.add_row(csv_cells(c));
  const auto add = [&](const std::vector<std::string>& names, const char* outcome) {
    for (const std::string& name : names) {
      std::vector<std::string> cells(kCsvColumns.size());
      cells[0] = name;
      cells[1] = name.substr(0, name.find('/'));
      cells[2] = outcome;
      table.add_row(std::move(cells));
    }
  };
  add(comparison.only_in_base, "MISSING");
  add(comparison.only_in_next, "NEW");
  return table.csv();
}

std::string comparison_to_junit(const Comparison& comparison, bool strict) {
  std::vector<render::JunitCase> cases;
  for (const CaseComparison& c : comparison.cases) cases.push_back(test_case(c, strict));
  return render::junit_xml("tbench diff", cases);
}

}  // namespace tbench::compare
