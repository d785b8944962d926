#include "tbench/report/night_export.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "json_fields.hpp"
#include "junit.hpp"
#include "tbench/report/night_page.hpp"
#include "tbench/report/result_json.hpp"

namespace tbench::report {

static void fields(auto& io, Like<NightMark> auto& mark) {
  io.field("started", mark.started);
  io.field("commit", mark.commit);
}

static void fields(auto& io, Like<NightCase> auto& c) {
  io.field("name", c.name);
  io.field("family", c.family);
  io.field("key", c.key);
  io.name("verdict", c.verdict, parse_night_verdict);
  io.text_unless_empty("found_by", c.found_by);
  io.field("nights", c.nights);
  io.field("reference_s", c.reference);
  io.field("tonight_s", c.tonight);
  io.field("ratio", c.ratio);
  io.field("z", c.z);
  io.field("threshold", c.threshold);
  io.field("allocated_peak_bytes", c.peak_bytes);
  io.field("confirmed_ratio", c.confirmed_ratio);
  io.field("confirmed_low", c.confirmed_low);
  io.field("confirmed_high", c.confirmed_high);
  io.field("adjusted_p", c.adjusted_p);
  io.field("blocks", c.blocks);
  io.field("last_good", c.last_good);
  io.field("first_bad", c.first_bad);
  io.field("since", c.since);
  io.text_unless_empty("note", c.note);
}

static void fields(auto& io, Like<CeilingCheck> auto& check) {
  io.field("name", check.name);
  io.field("ratio", check.ratio);
  io.field("tolerance", check.tolerance);
  io.field("is_within", check.is_within);
}

static void fields(auto& io, Like<NullControl> auto& control) {
  io.field("cases", control.cases);
  io.field("rejected", control.rejected);
  io.field("has_failed", control.has_failed);
}

static void fields(auto& io, Like<ShiftOfCase> auto& shift) {
  io.field("name", shift.name);
  io.field("ratio", shift.ratio);
}

static void fields(auto& io, Like<EpochShift> auto& shift) {
  io.field("from", shift.from);
  io.field("to", shift.to);
  io.field("cases", shift.cases);
  io.field("mean_ratio", shift.mean_ratio);
  io.field("beyond", shift.beyond);
}

static void fields(auto& io, Like<NightReport> auto& report) {
  io.field("started", report.started);
  io.field("commit", report.commit);
  io.field("fingerprint", report.fingerprint);
  io.field("epoch", report.epoch);
  io.field("processes", report.processes);
  io.field("nights", report.nights);
  io.field("is_valid", report.is_valid);
  io.field("ceilings", report.ceilings);
  io.field("null_control", report.null_control);
  io.field("epoch_shift", report.epoch_shift);
  io.field("missing", report.missing);
  io.field("stale", report.stale);
  io.field("warnings", report.warnings);
  io.field("cases", report.cases);
}

namespace {

JunitCase test_case(const NightReport& report, const NightCase& c, bool strict) {
  using enum NightVerdict;
  const bool may_fail = report.is_valid && !(report.null_control && report.null_control->has_failed);
  const bool is_uncertain =
      c.verdict == kCreep || c.verdict == kUnconfirmed || c.verdict == kClock || c.verdict == kInvalid;
  JunitCase test{
      .family = c.family, .name = c.name, .message = fmt::format("{}: {}", to_string(c.verdict), case_line(c))};
  if (c.verdict == kPassed || c.verdict == kImproved || c.verdict == kRetried) return test;
  const bool has_failed = may_fail && (c.verdict == kRegressed || (strict && is_uncertain));
  test.result = has_failed ? JunitCase::Result::kFailed : JunitCase::Result::kSkipped;
  return test;
}

}  // namespace

Json night_to_json(const NightReport& report) { return to_object(report, "night"); }

NightReport night_from_json(const Json& json) { return from_object<NightReport>(json, "night"); }

Json night_message(const NightReport& report, bool strict) {
  FieldWriter out{"message"};
  out.field("outcome", std::string{outcome_of(report)});
  out.field("exit_status", std::int64_t{exit_status(report, strict)});
  out.field("is_good", is_good(report));
  out.field("text", night_summary(report));
  std::map<std::string, std::int64_t> verdicts;
  for (const NightVerdict verdict : kAllNightVerdicts) {
    const std::size_t count = count_of(report, verdict);
    if (count > 0) verdicts.emplace(to_string(verdict), static_cast<std::int64_t>(count));
  }
  out.field("verdicts", verdicts);
  out.field("night", report);
  return std::move(out).take();
}

std::string night_to_junit(const NightReport& report, bool strict) {
  std::vector<JunitCase> cases;
  for (const NightCase& c : report.cases) cases.push_back(test_case(report, c, strict));
  return junit_xml("tbench gate", cases);
}

}  // namespace tbench::report
