#include "tbench/studies/experiments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/table.hpp"
#include "tbench/stats/tests.hpp"

namespace tbench::studies {
namespace {

using render::Align;
using results::Experiment;

/// The shapes of one change.
struct Change {
  const Experiment* first{};
  std::set<std::string> shapes;
  std::vector<double> ratios;  // time after over time before
  std::size_t kept{};          // shapes for which the change was kept
  std::size_t rejected{};
};

/// Returns the changes, the latest first. Changes of one day keep the order of the file.
std::vector<Change> changes_of(std::span<const Experiment> experiments, const CaseFilter& selects) {
  std::vector<Change> changes;
  std::map<std::tuple<std::string, std::string, std::string, std::string, std::string>, std::size_t> places;
  for (const Experiment& one : experiments) {
    if (!selects(one.kernel + ": " + one.change)) continue;
    const auto [place, is_new] =
        places.try_emplace({one.date, one.commit, one.gpu, one.kernel, one.change}, changes.size());
    if (is_new) changes.push_back({.first = &one, .shapes = {}, .ratios = {}});
    Change& change = changes[place->second];
    change.shapes.insert(one.shape);
    if (one.before && one.after) change.ratios.push_back(one.after->value / one.before->value);
    if (one.was_kept) ++(*one.was_kept ? change.kept : change.rejected);
  }
  std::ranges::stable_sort(changes, std::ranges::greater{}, [](const Change& change) { return change.first->date; });
  return changes;
}

std::string ratio_text(const std::vector<double>& ratios) {
  if (ratios.empty()) return "";
  const auto [fastest, slowest] = std::ranges::minmax(ratios);
  const std::string mean = fmt::format("{:.2f}", stats::geometric_mean(ratios));
  return ratios.size() == 1 ? mean : fmt::format("{} ({:.2f} to {:.2f})", mean, fastest, slowest);
}

std::string kept_text(const Change& change) {
  if (change.kept > 0 && change.rejected > 0)
    return fmt::format("{} of {}", change.kept, change.kept + change.rejected);
  if (change.kept > 0) return "yes";
  return change.rejected > 0 ? "no" : "";
}

/// Returns the sentence above the table.
std::string answer(const std::vector<Change>& changes) {
  std::set<std::string> kernels;
  std::size_t kept = 0;
  std::size_t rejected = 0;
  for (const Change& change : changes) {
    if (!change.first->kernel.empty()) kernels.insert(change.first->kernel);
    if (change.kept > 0) {
      ++kept;
    } else if (change.rejected > 0) {
      ++rejected;
    }
  }
  return fmt::format(
      "{} experiments with {} kernel{}, {} to {}: {} kept, {} rejected, {} are times to compare with\n\n",
      changes.size(), kernels.size(), kernels.size() == 1 ? "" : "s", changes.back().first->date,
      changes.front().first->date, kept, rejected, changes.size() - kept - rejected);
}

}  // namespace

std::string experiments_text(std::span<const Experiment> experiments, const ExperimentOptions& options) {
  const std::vector<Change> changes = changes_of(experiments, CaseFilter{options.filter, "--filter"});
  if (changes.empty()) {
    throw UsageError{
        fmt::format("--filter={}: matches no `kernel: change` of {} experiments", options.filter, experiments.size())};
  }
  render::Table table{{{"date"},
                       {"GPU"},
                       {"kernel"},
                       {"shapes", Align::kRight},
                       {"after / before", Align::kRight},
                       {"kept"},
                       {"change"},
                       {"reason", Align::kLeft, 1}}};
  for (const Change& change : changes) {
    table.add_row({change.first->date, change.first->gpu, change.first->kernel, fmt::format("{}", change.shapes.size()),
                   ratio_text(change.ratios), kept_text(change), change.first->change, change.first->reason});
  }
  const std::string shown =
      options.markdown ? table.markdown() : table.without_spare_columns(options.max_width).text(options.max_width);
  return answer(changes) + shown;
}

}  // namespace tbench::studies
