// Checks whether a run is whole: it has every planned record, enough processes and every ceiling.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "gate/gate_evidence.hpp"
#include "tbench/core/run_order.hpp"
#include "tbench/core/text.hpp"

namespace tbench::gate {
namespace {

constexpr std::size_t kMaxNamed = 3;

/// Returns the first names and the number of the others: `a, b, c and 4 more`.
std::string named(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kMaxNamed);
  const std::vector<std::string> first{names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown)};
  return names.size() == shown ? join(first, ", ")
                               : fmt::format("{} and {} more", join(first, ", "), names.size() - shown);
}

/// Returns the planned number of processes of each case. Without a plan, this is the number of processes of the case
/// that has the most.
std::map<std::string, std::size_t> planned(const history::MeasuredRun& run) {
  if (!run.planned.empty()) return run.planned;
  std::map<std::string, std::size_t> processes;
  const std::size_t most = processes_of(run.cases);
  for (const results::MeasuredCase& c : run.cases) {
    if (!is_ceiling(c.id)) processes[c.key] = most;
  }
  return processes;
}

/// Returns the cases with fewer records than planned: `NAME (3 of 5 processes)`.
std::vector<std::string> gaps_of(const history::MeasuredRun& run) {
  std::map<std::string, std::size_t> there;
  for (const results::MeasuredCase& c : run.cases) there[c.key] = c.replicates.size();
  std::vector<std::string> gaps;
  for (const auto& [key, count] : planned(run)) {
    if (there[key] < count) gaps.push_back(fmt::format("{} ({} of {} processes)", key, there[key], count));
  }
  return gaps;
}

struct Held {
  std::string what;
  std::optional<Regime> regime;
  auto operator<=>(const Held&) const = default;
};

std::set<Held> held_against(const std::vector<results::MeasuredCase>& cases) {
  std::set<Held> held;
  for (const results::MeasuredCase& c : cases) {
    if (is_ceiling(c.id)) continue;
    for (const results::Replicate& replicate : c.replicates) {
      if (!replicate.ceiling.empty()) held.insert({replicate.ceiling, replicate.regime});
    }
  }
  return held;
}

bool is_of(const results::MeasuredCase& ceiling, const Held& held) {
  const std::string* const what = ceiling.id.find("what");
  const std::string* const regime = ceiling.id.find("regime");
  if (what == nullptr || *what != held.what) return false;
  return regime == nullptr || !held.regime || *regime == to_string(*held.regime);
}

/// Returns the problem with a ceiling, or nullopt if it is `ok` in enough processes.
std::optional<std::string> problem_with(const std::vector<results::MeasuredCase>& cases, const Held& held) {
  const auto found =
      std::ranges::find_if(cases, [&](const results::MeasuredCase& c) { return is_ceiling(c.id) && is_of(c, held); });
  const std::string name = held.regime ? fmt::format("{} {}", held.what, to_string(*held.regime)) : held.what;
  if (found == cases.end()) return name + " was not measured";
  const auto ok = std::ranges::count(found->replicates, Status::kOk, &results::Replicate::status);
  if (static_cast<std::size_t>(ok) >= kMinProcesses) return std::nullopt;
  const auto bad =
      std::ranges::find_if(found->replicates, [](const results::Replicate& r) { return r.status != Status::kOk; });
  return fmt::format("{} is {}ok in {} of {} processes", name,
                     bad == found->replicates.end() ? "" : fmt::format("{}: ", to_string(bad->status)), ok,
                     found->replicates.size());
}

/// Returns whether any ceiling is `ok` in enough processes. This is the check for older programs, which do not record
/// the ceiling with which a case is compared.
bool has_sound_ceiling(const std::vector<results::MeasuredCase>& cases) {
  return std::ranges::any_of(cases, [](const results::MeasuredCase& c) {
    const auto ok = std::ranges::count(c.replicates, Status::kOk, &results::Replicate::status);
    return is_ceiling(c.id) && static_cast<std::size_t>(ok) >= kMinProcesses;
  });
}

}  // namespace

std::size_t processes_of(const std::vector<results::MeasuredCase>& cases) {
  std::size_t processes = 0;
  for (const results::MeasuredCase& c : cases) processes = std::max(processes, c.replicates.size());
  return processes;
}

bool has_ceilings(const std::vector<results::MeasuredCase>& cases) {
  return std::ranges::any_of(cases, [](const results::MeasuredCase& c) { return is_ceiling(c.id); });
}

std::optional<Finding> find_gaps(const history::MeasuredRun& run) {
  std::vector<std::string> problems;
  if (run.was_interrupted) problems.emplace_back("the run was interrupted");
  const std::vector<std::string> gaps = gaps_of(run);
  if (!gaps.empty()) {
    problems.push_back(fmt::format("{} not measured in every process: {}",
                                   counted(gaps.size(), "planned case was", "planned cases were"), named(gaps)));
  }
  const std::size_t processes = processes_of(run.cases);
  if (processes < kMinProcesses) {
    problems.push_back(fmt::format("{}, and {} are needed", counted(processes, "process", "processes"), kMinProcesses));
  }
  if (problems.empty()) return std::nullopt;
  return Finding{
      .outcome = Outcome::kIncomplete, .subject = Subject::kWhole, .text = join(problems, "; "), .stops_judging = true};
}

std::optional<Finding> find_missing_ceilings(const std::vector<history::PastRun>& past,
                                             const history::MeasuredRun& run) {
  const bool are_expected = has_ceilings(run.cases) || std::ranges::any_of(past, [](const history::PastRun& earlier) {
                              return has_ceilings(earlier.run.cases);
                            });
  if (!are_expected) return std::nullopt;
  std::vector<std::string> problems;
  const std::set<Held> all_held = held_against(run.cases);
  for (const Held& held : all_held) {
    if (auto problem = problem_with(run.cases, held)) problems.push_back(*std::move(problem));
  }
  if (all_held.empty() && !has_sound_ceiling(run.cases)) {
    problems.push_back(fmt::format("no Ceiling case is ok in {} processes", kMinProcesses));
  }
  if (problems.empty()) return std::nullopt;
  return Finding{.outcome = Outcome::kIncomplete,
                 .subject = Subject::kCeilings,
                 .text = "the machine was not checked: " + named(problems),
                 .stops_judging = true};
}

}  // namespace tbench::gate
