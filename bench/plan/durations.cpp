#include "bench/plan/durations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>
#include <utility>

#include "tbench/core/run_order.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::bench {
namespace {

/// The factor within which memory sizes count as equal. ECC and the driver leave slightly different amounts on GPUs of
/// the same model.
constexpr double kSameMemory = 1.01;

/// The time of a family's finished cases at which they count as much as the finished cases of all families.
constexpr Seconds kKnownAfter{10.0};

std::string with_article(const std::string& gpu) {
  return fmt::format("{} {}", gpu.starts_with("NVIDIA") ? "an" : "a", gpu);
}

/// Formats an estimate: `40 s`, `8 min`, `1 h 35 min`.
std::string about(Seconds time) {
  constexpr double kMinute = 60;
  constexpr double kShort = 90;  // largest number of seconds, or of minutes, that is shown in that unit
  if (time.value < kShort) return fmt::format("{:.0f} s", std::max(1.0, time.value));
  const auto minutes = static_cast<std::int64_t>(std::lround(time.value / kMinute));
  if (time.value < kShort * kMinute) return fmt::format("{} min", minutes);
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

std::string estimate_text(std::span<const ScheduledCase> plan, const RunDurations& durations) {
  Seconds total;
  std::set<std::string> unknown;
  for (const ScheduledCase& planned : plan) {
    const results::DurationEstimate estimate = durations.table.estimate(planned.id);
    total = total + estimate.time;
    if (!estimate.is_measured) unknown.insert(planned.id.name());
  }
  std::string text = fmt::format(", about {} on {}", about(total), with_article(durations.table.gpu()));
  if (durations.gpu && !durations.is_of_this_gpu() && !durations.is_given) {
    text += fmt::format("; no durations of {} are known", with_article(*durations.gpu));
  }
  if (!unknown.empty()) {
    text +=
        fmt::format("; {} without a measured duration {} estimated from {} neighbours", counted(unknown.size(), "case"),
                    agreeing(unknown.size(), "is", "are"), agreeing(unknown.size(), "its", "their"));
  }
  return text;
}

bool is_plain(char c) {
  constexpr std::string_view kPlain{"_-./=:,+@%"};
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || kPlain.find(c) != std::string_view::npos;
}

/// Quotes a word for a shell.
std::string shell_word(const std::string& word) {
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
  std::string quoted{"'"};
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string{c};
  return quoted + "'";
}

}  // namespace

std::optional<RunDurations> choose_durations(const Options& options, Suite suite,
                                             const std::optional<std::string>& gpu) {
  if (options.durations == "off") return std::nullopt;
  if (!options.durations.empty()) {
    return RunDurations{
        .table = results::DurationTable::parse(results::read_text(options.durations), options.durations),
        .gpu = gpu,
        .is_given = true};
  }
  if (options.device == DeviceChoice::kCpu || suite == Suite::kSmoke) return std::nullopt;
  const results::DurationTable* const own = gpu ? results::find_built_in_durations(*gpu) : nullptr;
  return RunDurations{.table = own != nullptr ? *own : results::reference_durations(), .gpu = gpu};
}

std::optional<std::string> mismatch_note(const Options& options, const RunDurations& durations) {
  if (!durations.is_given || durations.is_of_this_gpu()) return std::nullopt;
  return fmt::format("--tb_durations={}: of {}, and not of {}. They only estimate.", options.durations,
                     with_article(durations.table.gpu()),
                     durations.gpu ? with_article(*durations.gpu) : "this machine, where no GPU is used");
}

std::optional<Record> known_oom(const CaseId& id, const RunDurations* durations, const Environment& environment,
                                const Options& options) {
  if (options.try_oom || durations == nullptr || !durations->is_of_this_gpu() || !environment.gpu) return std::nullopt;
  const auto measured_bytes = static_cast<double>(durations->table.memory_bytes());
  if (static_cast<double>(environment.gpu->memory_bytes) > kSameMemory * measured_bytes) return std::nullopt;
  const results::CaseDuration* const known = durations->table.find(id);
  if (known == nullptr || known->status != Status::kOom) return std::nullopt;
  Record record;
  record.id = id;
  record.status = Status::kOom;
  record.reason = fmt::format("not tried: it did not fit {} in the runs behind the durations {}; --tb_try_oom tries it",
                              with_article(durations->table.gpu()), durations->table.label());
  return record;
}

Places shard_places(const Selection& selection, const Shard& shard, const results::DurationTable& table) {
  std::vector<TimedCase> cases;
  for (const CaseId& id : selection.cases) {
    if (!is_ceiling(id)) cases.push_back({.name = id.name(), .time = table.estimate(id).time});
  }
  return places_by_time(cases, shard.count).at(static_cast<std::size_t>(shard.index - 1));
}

void record_durations(std::map<std::string, std::string>& recorded, const Options& options,
                      const std::optional<RunDurations>& durations, const std::optional<Places>& places) {
  if (places) recorded["shard_places"] = format_places(*places);
  if (durations && (places || options.stop_after)) recorded["durations"] = durations->table.label();
}

std::string plan_text(std::span<const ScheduledCase> plan, const std::set<std::string>& selected,
                      const RunDurations* durations) {
  std::set<std::string> cases;
  std::set<std::string> ceilings;
  std::set<std::int64_t> processes;
  for (const ScheduledCase& planned : plan) {
    const std::string name = planned.id.name();
    (selected.contains(name) ? cases : ceilings).insert(name);
    processes.insert(planned.process);
  }
  std::string text = counted(cases.size(), "case");
  if (!ceilings.empty()) text += " and " + counted(ceilings.size(), "ceiling");
  if (processes.size() > 1) text += fmt::format(" in {} processes", processes.size());
  return durations == nullptr || plan.empty() ? text : text + estimate_text(plan, *durations);
}

ExpectedTimes::ExpectedTimes(std::span<const ScheduledCase> plan, const results::DurationTable& table) {
  for (const ScheduledCase& planned : plan) {
    families_.push_back(planned.id.family());
    times_.push_back(table.estimate(planned.id).time);
  }
}

void ExpectedTimes::finished(std::size_t index, Seconds took) {
  for (Sums* const sums : {&done_[families_.at(index)], &all_done_}) {
    sums->expected = sums->expected + times_.at(index);
    sums->measured = sums->measured + took;
  }
}

double ExpectedTimes::overall_factor() const {
  return all_done_.expected > Seconds{0} ? all_done_.measured / all_done_.expected : 1.0;
}

double ExpectedTimes::factor_of(const std::string& family) const {
  const double overall = overall_factor();
  const auto found = done_.find(family);
  if (found == done_.end()) return overall;
  const auto& [expected, measured] = found->second;
  return (measured + kKnownAfter * overall) / (expected + kKnownAfter);
}

Seconds ExpectedTimes::at_most(std::size_t index) const {
  return times_.at(index) * std::max(1.0, factor_of(families_.at(index)));
}

Seconds ExpectedTimes::remaining(std::size_t index) const {
  std::map<std::string, Seconds> left;
  for (std::size_t i = index; i < times_.size(); ++i) left[families_[i]] = left[families_[i]] + times_[i];
  Seconds sum;
  for (const auto& [family, time] : left) sum = sum + time * factor_of(family);
  return sum;
}

bool has_time_for(std::size_t index, const ExpectedTimes* times, Seconds elapsed, Seconds stop_after, bool is_first) {
  if (is_first) return true;
  return times == nullptr ? elapsed < stop_after : elapsed + times->at_most(index) <= stop_after;
}

std::string resume_command(std::span<const std::string> words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back(shell_word(word));
  if (std::ranges::find(words, "--tb_resume") == words.end()) quoted.emplace_back("--tb_resume");
  return join(quoted, " ");
}

}  // namespace tbench::bench
