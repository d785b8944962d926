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
#include "tbench/render/terminal.hpp"
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

/// Returns the changes, the latest first. Changes with the same date keep the order of the file.
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

std::string verdict_of(const Change& change) {
  if (change.kept > 0 && change.rejected > 0) {
    return fmt::format("kept {} of {}", change.kept, change.kept + change.rejected);
  }
  if (change.kept > 0) return "kept";
  return change.rejected > 0 ? "rejected" : "a time";
}

/// Returns the sentence above the experiments.
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
  return fmt::format("{} experiments with {}, {} to {}: {} kept, {} rejected, {} times to compare with\n\n",
                     changes.size(), counted_in(kernels, "kernel"), changes.back().first->date,
                     changes.front().first->date, kept, rejected, changes.size() - kept - rejected);
}

render::Table table_of(const std::vector<Change>& changes) {
  render::Table table{{{"date"},
                       {"GPU"},
                       {"kernel"},
                       {"shapes", Align::kRight},
                       {"after / before", Align::kRight},
                       {"verdict"},
                       {"change"},
                       {"reason"}}};
  for (const Change& change : changes) {
    table.add_row({change.first->date, change.first->gpu, change.first->kernel, fmt::format("{}", change.shapes.size()),
                   ratio_text(change.ratios), verdict_of(change), change.first->change, change.first->reason});
  }
  return table;
}

/// Returns an entry of wrapped lines per change: date, GPU, verdict, kernel and change; below, the effect and the
/// reason.
std::string entries_of(const std::vector<Change>& changes, std::size_t width) {
  constexpr std::size_t kIndent = 32;
  std::vector<std::string> lines;
  for (const Change& change : changes) {
    const Experiment& first = *change.first;
    const std::string begin = fmt::format("{:10}  {:4}  {:12}  ", first.date, first.gpu, verdict_of(change));
    render::add_wrapped(lines, begin, first.kernel.empty() ? first.change : first.kernel + ": " + first.change, kIndent,
                        width);
    std::string below;
    if (!change.ratios.empty()) {
      below = fmt::format("{} of the time in {}. ", ratio_text(change.ratios), counted_in(change.ratios, "shape"));
    }
    below += first.reason;
    if (!below.empty()) render::add_wrapped(lines, std::string(kIndent, ' '), below, kIndent, width);
  }
  for (std::string& line : lines) line = render::without_controls(line);
  return join(lines, "\n") + "\n";
}

}  // namespace

std::string experiments_text(std::span<const Experiment> experiments, const ExperimentOptions& options) {
  const std::vector<Change> changes = changes_of(experiments, CaseFilter{options.filter, "--filter"});
  if (changes.empty()) {
    throw UsageError{
        fmt::format("--filter={}: matches no `kernel: change` of {} experiments", options.filter, experiments.size())};
  }
  constexpr std::size_t kWidth = 100;  // where no terminal says its own
  return answer(changes) +
         (options.markdown ? table_of(changes).markdown() : entries_of(changes, options.max_width.value_or(kWidth)));
}

}  // namespace tbench::studies
