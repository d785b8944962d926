// The JSON form of a gate's report, and the messages for programs.
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tbench/gate/gate_output.hpp"
#include "tbench/results/json_fields.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::gate {

static void fields(auto& io, results::Like<RunMark> auto& mark) {
  io.field("started", mark.started);
  io.field("commit", mark.commit);
}

static void fields(auto& io, results::Like<CaseReport> auto& c) {
  io.field("name", c.name);
  io.field("family", c.family);
  io.field("key", c.key);
  io.renamed_name("outcome", "verdict", c.outcome, results::parse_outcome);
  io.text_unless_empty("found_by", c.found_by);
  io.field("nights", c.runs);
  io.field("reference_s", c.reference);
  io.field("tonight_s", c.candidate);
  io.field("ratio", c.ratio);
  io.field("device_ratio", c.device_ratio);
  io.field("z", c.z);
  io.field("threshold", c.threshold);
  io.field("allocated_peak_bytes", c.peak_bytes);
  io.field("confirmed_ratio", c.confirmed_ratio);
  io.field("confirmed_low", c.confirmed_low);
  io.field("confirmed_high", c.confirmed_high);
  io.field("adjusted_p", c.adjusted_p);
  io.field("blocks", c.blocks);
  io.late_field("is_confirmed", c.is_confirmed);
  io.late_field("is_expected", c.is_expected);
  io.field("last_good", c.last_good);
  io.field("first_bad", c.first_bad);
  io.field("since", c.since);
  io.text_unless_empty("note", c.note);
}

static void fields(auto& io, results::Like<CeilingCheck> auto& check) {
  io.field("name", check.name);
  io.field("ratio", check.ratio);
  io.field("tolerance", check.tolerance);
  io.field("is_within", check.is_within);
  io.late_name("resource", check.resource, &parse_enum<Resource>);
}

static void fields(auto& io, results::Like<Finding> auto& finding) {
  io.name("outcome", finding.outcome, results::parse_outcome);
  io.name("subject", finding.subject, &parse_enum<Subject>);
  io.field("text", finding.text);
  io.field("stops_judging", finding.stops_judging);
}

static void fields(auto& io, results::Like<MachineChange> auto& change) {
  io.field("ceilings", change.ceilings);
  io.field("nights", change.runs);
  io.field("was_accepted", change.was_accepted);
}

static void fields(auto& io, results::Like<AaControl> auto& control) {
  io.field("cases", control.cases);
  io.field("rejected", control.rejected);
  io.field("has_failed", control.has_failed);
}

static void fields(auto& io, results::Like<ShiftOfCase> auto& shift) {
  io.field("name", shift.name);
  io.field("ratio", shift.ratio);
}

static void fields(auto& io, results::Like<EpochShift> auto& shift) {
  io.field("from", shift.from);
  io.field("to", shift.to);
  io.field("cases", shift.cases);
  io.field("mean_ratio", shift.mean_ratio);
  io.late_field("low_ratio", shift.low_ratio);
  io.late_field("high_ratio", shift.high_ratio);
  io.field("beyond", shift.beyond);
}

static void fields(auto& io, results::Like<KeptBuildRun> auto& run) {
  io.field("cases", run.cases);
  io.field("lacking", run.lacking);
  io.field("differing", run.differing);
}

static void fields(auto& io, results::Like<GateReport> auto& report) {
  io.field("started", report.started);
  io.field("commit", report.commit);
  io.field("fingerprint", report.fingerprint);
  io.field("epoch", report.epoch);
  io.field("processes", report.processes);
  io.field("nights", report.runs);
  io.field("is_valid", report.is_valid);
  io.late_field("host_is_valid", report.host_is_valid);
  io.late_field("blind_nights", report.blind_runs);
  io.field("ceilings", report.ceilings);
  io.field("machine_change", report.machine_change);
  io.field("null_control", report.null_control);
  io.field("epoch_shift", report.epoch_shift);
  io.field("kept_build_run", report.kept_build_run);
  io.late_field("findings", report.findings);
  io.late_field("is_partial", report.is_partial);
  io.late_field("is_checked", report.is_checked);
  io.field("missing", report.missing);
  io.field("stale", report.stale);
  io.field("warnings", report.warnings);
  io.field("cases", report.cases);
}

results::Json report_to_json(const GateReport& report) { return results::to_object(report, "report"); }

GateReport report_from_json(const results::Json& json) { return results::from_object<GateReport>(json, "report"); }

results::Json report_message(const GateReport& report, bool strict, const GateInput& input) {
  results::FieldWriter out{"message"};
  out.field("exit_status", std::int64_t{exit_status(report, strict)});
  out.field("is_good", is_good(report));
  out.field("text", report_summary(report));
  std::map<std::string, std::int64_t> outcomes;
  for (const auto& [outcome, count] : count_all_outcomes(report)) {
    outcomes.emplace(to_string(outcome), static_cast<std::int64_t>(count));
  }
  out.field("outcomes", outcomes);
  out.field("night", report);
  return results::concluded("gate", gate_conclusion(report, input), std::move(out).take());
}

results::Json heartbeat_message(const results::Conclusion& conclusion, const std::string& name,
                                const std::string& share, int status) {
  results::FieldWriter out{"heartbeat"};
  out.field("case", name);
  out.field("share", share);
  out.field("exit_status", std::int64_t{status});
  return results::concluded("heartbeat", conclusion, std::move(out).take());
}

}  // namespace tbench::gate
