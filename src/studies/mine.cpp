// The study for a kernel author: compares their own attention (--tb_plugin) with every library and with `flash`.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "studies/engine/case_parameters.hpp"
#include "studies/engine/studies.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/summary.hpp"
#include "tbench/stats/tests.hpp"

namespace tbench::studies {
namespace {

using Texts = std::vector<std::string>;

const Texts& built_in() {
  static const Texts impls{"naive", "sdpa_flash", "sdpa_efficient", "sdpa_cudnn", "flash"};
  return impls;
}

FamilyGrid grid(std::string batch, std::string heads, std::string d_model, Texts seq_len, std::string causal,
                std::string precision, Texts impl) {
  return {.family = "Attention",
          .axes = {{"batch", {std::move(batch)}},
                   {"heads", {std::move(heads)}},
                   {"d_model", {std::move(d_model)}},
                   {"seq_len", std::move(seq_len)},
                   {"causal", {std::move(causal)}},
                   {"pass", {"forward", "backward"}},
                   {"precision", {std::move(precision)}},
                   {"impl", std::move(impl)}}};
}

/// Returns four grids: one head and 16 heads with head_dim 64, 16 heads with head_dim 128, and 16 heads without a mask.
std::vector<FamilyGrid> gpu_grids() {
  return {grid("8", "1", "64", {"512", "2048", "8192"}, "1", "bf16", built_in()),
          grid("4", "16", "1024", {"512", "1024", "2048"}, "1", "bf16", built_in()),
          grid("2", "16", "2048", {"512", "1024", "4096"}, "1", "bf16", built_in()),
          grid("4", "16", "1024", {"512", "1024", "2048"}, "0", "bf16", built_in())};
}

/// Returns the same kinds of shapes in float32, with sizes for a CPU and a single head_dim. A Python function is
/// therefore compiled only twice, once for one head and once for several.
std::vector<FamilyGrid> cpu_grids() {
  const Texts impls{"naive", "sdpa_flash"};
  return {grid("2", "1", "32", {"64", "128", "256"}, "1", "fp32", impls),
          grid("2", "2", "64", {"64", "128", "256"}, "1", "fp32", impls),
          grid("2", "4", "128", {"64", "128", "192"}, "1", "fp32", impls),
          grid("2", "2", "64", {"64", "128", "256"}, "0", "fp32", impls)};
}

bool is_plugin(const std::string& impl) { return std::ranges::find(built_in(), impl) == built_in().end(); }

/// The results of the measured implementations for one shape and pass: the time, or the status without a time.
struct Contest {
  std::map<std::string, double> times;  // in milliseconds
  std::map<std::string, std::string> failures;
};

/// Returns the results for all shapes and passes of the study.
std::vector<Contest> contests_of(const StudyMeasurements& all) {
  std::map<std::string, std::size_t> places;
  std::vector<Contest> contests;
  for (const CaseId& id : all.cases) {
    const auto [place, is_new] = places.try_emplace(without(id, {"impl"}).name(), contests.size());
    if (is_new) contests.emplace_back();
    Contest& contest = contests[place->second];
    const std::span<const Record* const> records = all.records_of(id);
    if (const std::optional<double> time = median_of(records, "median_ms")) {
      contest.times[id.at("impl")] = *time;
    } else if (!records.empty()) {
      contest.failures[id.at("impl")] = render::status_text(records.front()->status);
    }
  }
  return contests;
}

/// Returns the names with their counts, the largest first, such as `flash 19, sdpa_cudnn 2`.
std::string with_counts(const std::map<std::string, std::size_t>& counts) {
  std::vector<std::pair<std::string, std::size_t>> sorted{counts.begin(), counts.end()};
  std::ranges::stable_sort(sorted, std::greater{}, &std::pair<std::string, std::size_t>::second);
  Texts parts;
  for (const auto& [name, count] : sorted) parts.push_back(fmt::format("{} {}", name, count));
  return join(parts, ", ");
}

/// The comparison of `mine` with the fastest other implementation, over the shapes in which `mine` was measured.
struct Standing {
  std::size_t measured{};
  std::size_t wins{};
  std::vector<double> shares;                   // time of the fastest other implementation divided by that of `mine`
  std::map<std::string, std::size_t> winners;   // fastest implementations where `mine` is not the fastest
  std::map<std::string, std::size_t> failures;  // statuses of `mine` without a time
};

Standing standing_of(const std::string& mine, std::span<const Contest> contests) {
  Standing standing;
  for (const Contest& contest : contests) {
    const auto own = contest.times.find(mine);
    const auto failure = contest.failures.find(mine);
    if (own == contest.times.end() && failure == contest.failures.end()) continue;
    ++standing.measured;
    if (failure != contest.failures.end()) ++standing.failures[failure->second];
    std::pair<std::string, double> best;
    for (const auto& [impl, time] : contest.times) {
      if (impl != mine && (best.first.empty() || time < best.second)) best = {impl, time};
    }
    const bool wins = own != contest.times.end() && (best.first.empty() || own->second < best.second);
    if (wins) ++standing.wins;
    if (!wins && !best.first.empty()) ++standing.winners[best.first];
    if (own != contest.times.end() && !best.first.empty()) {
      standing.shares.push_back(best.second / own->second);
    }
  }
  return standing;
}

/// Returns `24 shapes`, or `4 measured shapes (24 in the study)`.
std::string shapes_text(std::size_t measured, std::size_t all) {
  if (measured == all) return fmt::format("{} shapes", all);
  return fmt::format("{} ({} in the study)", counted(measured, "measured shape"), all);
}

/// Returns a sentence such as `mine is fastest in 3 of 24 shapes; geometric mean 0.76 of the best (flash 19, sdpa_cudnn
/// 2)`.
std::string sentence_of(const std::string& mine, std::span<const Contest> contests) {
  const Standing standing = standing_of(mine, contests);
  if (standing.measured == 0) return fmt::format("{}: none of the {} shapes is measured", mine, contests.size());
  std::string text =
      fmt::format("{} is fastest in {} of {}", mine, standing.wins, shapes_text(standing.measured, contests.size()));
  if (!standing.shares.empty()) {
    text += fmt::format("; geometric mean {:.2f} of the best", stats::geometric_mean(standing.shares));
  }
  if (!standing.winners.empty()) text += fmt::format(" ({})", with_counts(standing.winners));
  if (!standing.failures.empty()) text += fmt::format("; no time: {}", with_counts(standing.failures));
  return text;
}

/// Returns a sentence for each plug-in.
Texts answers(const StudyMeasurements& all) {
  Texts plugins;
  for (const CaseId& id : all.cases) {
    const std::string& impl = id.at("impl");
    if (is_plugin(impl) && std::ranges::find(plugins, impl) == plugins.end()) plugins.push_back(impl);
  }
  const std::vector<Contest> contests = contests_of(all);
  Texts sentences;
  for (const std::string& plugin : plugins) sentences.push_back(sentence_of(plugin, contests));
  return sentences;
}

/// The study has 12 shapes, each with a forward and a backward pass.
Study mine_study() {
  return {.name = "mine",
          .title = "Attention of one's own (--tb_plugin) next to every library and flash",
          .grids = gpu_grids(),
          .tables = {{.caption = "Median ms; pass:backward is the backward pass alone",
                      .spread = {"impl"},
                      .columns = {step_time_column()}}},
          .grids_on_cpu = cpu_grids(),
          .open_to_plugins = {"Attention"},
          .answer = &answers};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "mine", .order = 85, .make = &mine_study});

}  // namespace
}  // namespace tbench::studies
