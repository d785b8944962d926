// Situations of `tbench gate`: nights of fake_bench with eight cases and a ceiling, five processes, and one file per
// night.
#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "situation.hpp"
#include "tbench/core/text.hpp"

namespace tbench::tool {
namespace {

constexpr int kQuietNights = 9;

const std::string kCase = "Model/size:small/ctx:512/batch:4/pass:forward/precision:bf16/impl:sdpa";
const std::string kSlow = "FAKE_SLOW='small/.*forward' FAKE_FACTOR=1.1";

/// Returns the commands that measure a night into nightN.json.
std::string measure(int night, const std::string& variables = {}, const std::string& flags = {}) {
  constexpr std::int64_t kFirstNight = 1'767'322'800;
  // The program exits with 1 if a case failed.
  return fmt::format(
      "{{ env {} FAKE_COMMIT=commit{} FAKE_DATE={} fake_bench --tb_processes=5 {} --benchmark_out=night{}.json || "
      "true; "
      "}}",
      variables, night, format_timestamp(kFirstNight + std::int64_t{night} * 86'400), flags, night);
}

/// Makes h.db with `count` nights. The last `slow` nights are slow, and `last` is also set in the last three nights.
void import_nights(const Sandbox& sandbox, int count, int slow = 0, const std::string& last = {}) {
  std::string commands = "mkdir nights";
  for (int night = 0; night < count; ++night) {
    const std::string variables = (night >= count - slow ? kSlow : "") + (night >= count - 3 ? " " + last : "");
    commands += fmt::format(" && {} && mv night{}.json nights", measure(night, variables), night);
  }
  sandbox.prepare(commands + " && tbench history --db=h.db --import=nights");
}

/// Copies the history of nine quiet nights, which is made only once.
void quiet_nights(const Sandbox& sandbox) {
  static const Sandbox made;
  static const bool is_made = [] {
    import_nights(made, kQuietNights);
    return true;
  }();
  if (is_made) sandbox.prepare(fmt::format("cp '{}' h.db", made.file("h.db")));
}

/// Returns a function that makes nine quiet nights and measures a tenth.
std::function<void(const Sandbox&)> tenth_night(const std::string& variables, const std::string& flags = {}) {
  return [=](const Sandbox& sandbox) {
    quiet_nights(sandbox);
    sandbox.prepare(measure(kQuietNights, variables, flags));
  };
}

/// Makes four nights on a different GPU each time. The first three are evaluated.
void four_odd_nights(const Sandbox& sandbox) {
  quiet_nights(sandbox);
  int night = kQuietNights;
  for (const char* factor : {"1.08", "0.9", "1.2", "0.8"}) {
    sandbox.prepare(measure(night, fmt::format("FAKE_CEILING={}", factor)));
    if (night < kQuietNights + 3) sandbox.prepare(fmt::format("tbench gate --db=h.db night{}.json", night));
    ++night;
  }
}

void failed_control(const Sandbox& sandbox) {
  tenth_night("")(sandbox);
  sandbox.prepare("cp night9.json a.json");
  sandbox.prepare(measure(20, "FAKE_SLOW=small"));
}

void recorded_failed_control(const Sandbox& sandbox) {
  failed_control(sandbox);
  sandbox.prepare("tbench gate --db=h.db night9.json --null-a a.json --null-b night20.json || test $? = 5");
}

/// Returns a command line with the option --new for a build whose cases are slow.
std::string confirmed_with(const std::string& next) {
  return "tbench gate --json --db=h.db night9.json --good='env FAKE_SEED=good transformer_bench' --new='env " + next +
         " transformer_bench'";
}

const std::string kGate = "tbench gate --json --db=h.db night9.json";
const std::string kCeiling = "transformer_bench --benchmark_filter='^Ceiling/what:copy$'";

std::vector<Situation> of_nights() {
  const std::string small_cases = "transformer_bench --benchmark_filter='^(" + kCase + "|" +
                                  support::model_id("train_step", "sdpa").name() +
                                  ")$' --tb_processes=5 --benchmark_out=";
  return {
      {"GateFirstNight",
       [](const Sandbox& sandbox) { sandbox.prepare(measure(9)); },
       kGate,
       0,
       "gate",
       "PASSED",
       {"8 NEW: 0 earlier valid runs"},
       ""},
      {"GatePassed", tenth_night(""), kGate, 0, "gate", "PASSED", {"8 SAME as in 9 earlier runs"}, ""},
      {"GateRegressed",
       tenth_night(kSlow),
       confirmed_with("FAKE_SLOW=small/.*forward FAKE_FACTOR=1.1"),
       1,
       "gate",
       "FAILED",
       {"REGRESSED " + kCase + ": +", "confirmed +", "since 2026-01-11", "7 SAME"},
       "tbench history --db=h.db '^" + kCase + "$'"},
      {"GateFailedCase",
       tenth_night("FAKE_FAIL='small/.*forward'"),
       confirmed_with("FAKE_FAIL=small/.*forward"),
       1,
       "gate",
       "FAILED",
       {"WRONG " + kCase, "incorrect in 5 of 5 processes: planted"},
       "transformer_bench --benchmark_filter='^" + kCase + "$' --tb_isolate=case"},
      {"GateUnconfirmed",
       tenth_night(kSlow),
       kGate + " --strict",
       4,
       "gate",
       "REVIEW",
       {"UNCONFIRMED " + kCase},
       "tbench gate --db=h.db night9.json --again --good=GOOD/transformer_bench --new=NEW/transformer_bench"},
      {"GateEnvironment",
       tenth_night("FAKE_CEILING=1.08"),
       kGate,
       0,
       "gate",
       "REVIEW",
       {"the GPU differs from earlier runs", "Ceiling/what:copy: +", "1.0 % allowed"},
       kCeiling},
      {"GateBlind",
       four_odd_nights,
       "tbench gate --json --db=h.db night12.json",
       6,
       "gate",
       "FAILED",
       {"nothing could be gated in 4 runs in a row", "Ceiling/what:copy: -"},
       kCeiling},
      {"GateNullControlFailed",
       failed_control,
       kGate + " --null-a a.json --null-b night20.json",
       5,
       "gate",
       "FAILED",
       {"two runs of the same build differ", kCase},
       "tbench diff a.json --to night20.json"},
      {"GateNullControlOfARecordedRun",
       recorded_failed_control,
       kGate,
       5,
       "gate",
       "FAILED",
       {"two runs of the same build differ"},
       small_cases + "a.json; " + small_cases + "b.json; tbench diff a.json b.json"},
  };
}

std::vector<Situation> of_heartbeats() {
  const std::string plant = "--tb_plant=" + kCase + ":0.05";
  const std::string alone = "transformer_bench --benchmark_filter='^" + kCase + "$'";
  return {
      {"HeartbeatFound",
       tenth_night("", plant),
       kGate + " --heartbeat",
       0,
       "heartbeat",
       "FOUND",
       {kCase + " was slowed down by 0.05 and is UNCONFIRMED: change +"},
       ""},
      {"HeartbeatNotFound",
       tenth_night("FAKE_DEAF=1", plant),
       kGate + " --heartbeat",
       6,
       "heartbeat",
       "BLIND",
       {kCase + " was slowed down by 0.05 and is SAME: change "},
       "tbench history --db=h.db '^" + kCase + "$'"},
      {"HeartbeatOfAFirstNight",
       [=](const Sandbox& sandbox) { sandbox.prepare(measure(9, "", plant)); },
       kGate + " --heartbeat",
       0,
       "heartbeat",
       "UNKNOWN",
       {kCase + " is NEW: 0 earlier valid runs"},
       ""},
      {"HeartbeatMissing",
       tenth_night(""),
       kGate + " --heartbeat",
       2,
       "error",
       "ERROR",
       {"no slowdown was planted in 'night9.json'"},
       alone + " --tb_processes=5 --tb_plant='" + kCase + ":0.05' --benchmark_out=heartbeat.json"},
  };
}

std::function<void(const Sandbox&)> nights(int count, int slow, const std::string& last = {}) {
  return [=](const Sandbox& sandbox) { import_nights(sandbox, count, slow, last); };
}

}  // namespace

std::vector<Situation> gate_situations() {
  std::vector<Situation> all = of_nights();
  for (Situation& situation : of_heartbeats()) all.push_back(std::move(situation));
  return all;
}

std::vector<Situation> history_situations() {
  const std::string all_cases = "tbench history --json --db=h.db";
  return {
      {"HistorySlower",
       nights(20, 8),
       all_cases,
       0,
       "history",
       "SLOWER",
       {kCase + ": level +", "since 2026-01-14 (commit commit12, commit11 before)"},
       "tbench history --db=h.db '^" + kCase + "$'"},
      {"HistoryOfOneCase",
       nights(20, 8),
       all_cases + " 'small/.*forward'",
       0,
       "history",
       "SLOWER",
       {"since 2026-01-14"},
       "git log --oneline commit11..commit12"},
      {"HistorySteady", nights(20, 0), all_cases, 0, "history", "STEADY", {"9 cases: no change of level"}, ""},
      {"HistoryOfANewDriver",
       nights(12, 0, "FAKE_DRIVER=590.2"),
       all_cases,
       0,
       "history",
       "NEW",
       {"9 cases: fewer than 8 valid runs"},
       ""},
      {"HistoryImported",
       [](const Sandbox& sandbox) {
         sandbox.prepare("mkdir nights");
         sandbox.prepare(measure(0) + " && mv night0.json nights");
       },
       all_cases + " --import=nights",
       0,
       "import",
       "IMPORTED",
       {"1 run added to 'h.db', 0 known already"},
       "tbench history --db=h.db"},
      {"HistoryMissing", {}, all_cases, 2, "error", "ERROR", {"'h.db'", "no such file"}, "tbench history --help"},
  };
}

}  // namespace tbench::tool
