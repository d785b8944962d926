// Finds facts of the machine and of the measurement that differ from the runs before, and the effect on the cases.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "gate/gate_evidence.hpp"
#include "gate/judging_steps.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::gate {
namespace {

/// Settings that only runs with certain cases have. They count as changed only if both runs have them.
const std::set<std::string> kOfTheCases{"burst_min_time_s", "burst_min_warmup_time_s", "l2", "min_time_s",
                                        "min_warmup_time_s"};

using Settings = std::map<std::string, std::string>;

/// Parses `min_time_s 0.5, samples 60` into values by name.
Settings settings_of(const std::string& way) {
  Settings settings;
  for (std::string part : split(way, ',')) {
    part.erase(0, part.find_first_not_of(' '));
    const std::size_t space = part.find(' ');
    if (space != std::string::npos) settings[part.substr(0, space)] = part.substr(space + 1);
  }
  return settings;
}

void compare_settings(const Settings& then, const Settings& now, std::vector<std::string>& changes) {
  for (const auto& [name, value] : now) {
    const auto found = then.find(name);
    if (found == then.end() && !kOfTheCases.contains(name)) changes.push_back(fmt::format("{} -> {}", name, value));
    if (found != then.end() && found->second != value) {
      changes.push_back(fmt::format("{} {} -> {}", name, found->second, value));
    }
  }
  for (const auto& [name, value] : then) {
    if (!now.contains(name) && !kOfTheCases.contains(name))
      changes.push_back(fmt::format("{} {} -> as usual", name, value));
  }
}

std::string text_of(const std::optional<bool>& value) { return value ? (*value ? "on" : "off") : "unknown"; }
std::string text_of(const std::optional<double>& value) { return value ? fmt::format("{:.0f}", *value) : "unknown"; }

class Changes {
 public:
  void add(const std::string& name, const std::string& then, const std::string& now, const char* unit = "") {
    if (then != now) all_.push_back(fmt::format("{} {} -> {}{}", name, then, now, unit));
  }
  [[nodiscard]] std::vector<std::string> take() && { return std::move(all_); }

 private:
  std::vector<std::string> all_;
};

std::string version(const Environment& environment, const std::string& name) {
  const auto found = environment.versions.find(name);
  return found == environment.versions.end() ? "unknown" : found->second;
}

/// Returns the last run that counts, or nullptr.
const history::PastRun* last_judged(const std::vector<history::PastRun>& past) {
  const auto found = std::ranges::find_if(past.rbegin(), past.rend(), &history::PastRun::is_valid);
  return found == past.rend() ? nullptr : &*found;
}

std::string shift_text(const EpochShift& shift) {
  return fmt::format("{} {} % ({} to {})", counted(shift.cases, "case"), render::format_change(shift.mean_ratio),
                     render::format_change(shift.low_ratio), render::format_change(shift.high_ratio));
}

}  // namespace

std::vector<std::string> changed_facts(const Environment& then, const Environment& now) {
  Changes changes;
  if (then.gpu && now.gpu) {
    changes.add("GPU", then.gpu->uuid, now.gpu->uuid);
    changes.add("power limit", text_of(then.gpu->power_limit_w), text_of(now.gpu->power_limit_w), " W");
    changes.add("ECC", text_of(then.gpu->ecc), text_of(now.gpu->ecc));
    changes.add("MIG", text_of(then.gpu->mig), text_of(now.gpu->mig));
  }
  changes.add("CPU", then.cpu_name, now.cpu_name);
  changes.add("clocks", then.clock_policy, now.clock_policy);
  for (const char* name : {"driver", "cuda_runtime", "cublas", "cudnn", "libtorch"}) {
    changes.add(name, version(then, name), version(now, name));
  }
  return std::move(changes).take();
}

std::vector<std::string> changed_way(const std::vector<history::PastRun>& past, const history::MeasuredRun& run) {
  std::vector<std::string> changes;
  const history::PastRun* const last = last_judged(past);
  if (last == nullptr || last->run.way.empty() || run.way.empty()) return changes;
  compare_settings(settings_of(last->run.way), settings_of(run.way), changes);
  return changes;
}

std::optional<Finding> find_changed_facts(const std::vector<history::PastRun>& past, const history::MeasuredRun& run,
                                          const NightFacts& facts, const std::string& epoch,
                                          std::optional<EpochShift>& shift, std::optional<double> tau) {
  const std::vector<std::string> way = changed_way(past, run);
  const bool is_known = std::ranges::any_of(
      past, [&](const history::PastRun& earlier) { return earlier.is_valid && earlier.run.epoch == epoch; });
  if (is_known && way.empty()) return std::nullopt;
  const std::vector<history::PastRun>& before = last_judged(past) != nullptr ? past : facts.before;
  const history::PastRun* const last = last_judged(before);
  if (last == nullptr) return std::nullopt;
  std::vector<std::string> changes = changed_facts(last->run.environment, run.environment);
  if (!way.empty()) changes.push_back("measured otherwise: " + join(way, ", "));
  if (changes.empty()) return std::nullopt;
  if (!shift) shift = shift_from(before, epoch, run, tau);
  std::string text = join(changes, ", ");
  if (shift && shift->cases > 0) text += ": " + shift_text(*shift);
  const bool is_new_gpu =
      last->run.environment.gpu && run.environment.gpu && last->run.environment.gpu->uuid != run.environment.gpu->uuid;
  if (is_new_gpu) {
    text += fmt::format("; the history has {} runs of another GPU of this model: --pool judges against those, too",
                        before.size());
  }
  return Finding{
      .outcome = Outcome::kEnvironment, .subject = Subject::kMachine, .text = std::move(text), .stops_judging = false};
}

std::vector<std::string> facts_of_young_epoch(const std::vector<history::PastRun>& past,
                                              const history::MeasuredRun& run, const NightFacts& facts,
                                              const std::string& epoch) {
  const auto counts_in = [&](const history::PastRun& earlier) {
    return earlier.is_valid && earlier.run.epoch == epoch;
  };
  const auto in_epoch = static_cast<std::size_t>(std::ranges::count_if(past, counts_in));
  if (in_epoch >= kYoungRuns || !changed_way(past, run).empty()) return {};
  const auto is_before = [&](const history::PastRun& earlier) {
    return earlier.is_valid && earlier.run.epoch != epoch;
  };
  const auto before = std::find_if(past.rbegin(), past.rend(), is_before);
  const history::PastRun* const last = before != past.rend() ? &*before : last_judged(facts.before);
  return last == nullptr ? std::vector<std::string>{} : changed_facts(last->run.environment, run.environment);
}

}  // namespace tbench::gate
