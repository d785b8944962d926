// Summarises the comparison of a file with the first one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <string_view>

#include "html/summary.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/render/run_console.hpp"

namespace tbench::html {
namespace {

using Texts = std::vector<std::string>;
using compare::CaseComparison;
using results::Outcome;

struct OutcomeText {
  Outcome outcome;
  Tone tone;
  const char* one;  // text for a single case
  const char* several;
  bool names_cases;
};

constexpr std::array kOutcomeTexts{
    OutcomeText{Outcome::kWrong, Tone::kBad, "is wrong", "are wrong", true},
    OutcomeText{Outcome::kError, Tone::kBad, "fails where it ran before", "fail where they ran before", true},
    OutcomeText{Outcome::kRegressed, Tone::kBad, "is slower or needs more memory", "are slower or need more memory",
                true},
    OutcomeText{Outcome::kLikelySlower, Tone::kBad, "is probably slower, by one process per side",
                "are probably slower, by one process per side", true},
    OutcomeText{Outcome::kLikelyFaster, Tone::kGood, "is probably faster, by one process per side",
                "are probably faster, by one process per side", true},
    OutcomeText{Outcome::kImproved, Tone::kGood, "is faster, needs less memory or no longer fails",
                "are faster, need less memory or no longer fail", true},
    OutcomeText{Outcome::kHost, Tone::kWarning, "changed on the host alone: the GPU's own time did not",
                "changed on the host alone: the GPU's own time did not", true},
    OutcomeText{Outcome::kClock, Tone::kWarning, "changed with the GPU's clock alone: the clock cycles did not",
                "changed with the GPU's clock alone: the clock cycles did not", true},
    OutcomeText{Outcome::kUndecided, Tone::kWarning, "may have changed: it takes more processes to tell",
                "may have changed: it takes more processes to tell", true},
    OutcomeText{Outcome::kNotJudged, Tone::kPlain, "has no valid time on one side", "have no valid time on one side",
                false},
    OutcomeText{Outcome::kSame, Tone::kPlain, "is the same: no change above the threshold",
                "are the same: no change above their thresholds", false},
};

/// Returns a text such as `Model small +5.00 % (95 %: +4.86 to +5.13 %)`.
std::string change_text(const CaseComparison& c, const render::ShortNames& names) {
  std::string text = names(c.id);
  if (c.ratio) text += fmt::format(" {} %", render::format_change(*c.ratio));
  if (c.ratio_interval) {
    text += fmt::format(" ({}95 %: {} to {} %)", c.interval_is_within ? "inside one process " : "",
                        render::format_change(c.ratio_interval->low), render::format_change(c.ratio_interval->high));
  }
  if (!c.note.empty()) text += fmt::format(", {}", shortened(c.note));
  return text;
}

/// Returns the changes of the cases with the outcome, the largest first. Cases without a ratio precede all others.
Texts changes_of(const compare::Comparison& comparison, Outcome outcome, const render::ShortNames& names) {
  std::vector<const CaseComparison*> cases;
  for (const CaseComparison& c : comparison.cases) {
    if (c.outcome == outcome) cases.push_back(&c);
  }
  const auto size = [](const CaseComparison* c) { return c->ratio ? std::max(*c->ratio, 1 / *c->ratio) : 1e300; };
  std::ranges::stable_sort(cases, std::greater{}, size);
  Texts texts;
  for (const CaseComparison* c : cases) texts.push_back(change_text(*c, names));
  return texts;
}

void add_outcomes(std::vector<Sentence>& sentences, const compare::Comparison& comparison,
                  const render::ShortNames& names) {
  for (const auto& [outcome, tone, one, several, names_cases] : kOutcomeTexts) {
    const Texts changes = changes_of(comparison, outcome, names);
    if (changes.empty()) continue;
    std::string text = fmt::format("{} of {} {}", changes.size(), counted(comparison.cases.size(), "case"),
                                   agreeing(changes.size(), one, several));
    if (names_cases) text += ": " + listed(changes, "; ");
    sentences.push_back({sentence(text), tone});
  }
}

/// Adds sentences on the certainty of the verdicts.
void add_certainty(std::vector<Sentence>& sentences, const compare::Comparison& comparison) {
  std::vector<std::size_t> replicates;
  for (const CaseComparison& c : comparison.cases) {
    if (c.adjusted_p) replicates.push_back(std::min(c.base.replicates, c.next.replicates));
  }
  if (replicates.empty()) return;
  const auto [low, high] = std::ranges::minmax(replicates);
  const std::string processes =
      low == high ? fmt::format("{} processes", low) : fmt::format("{} to {} processes", low, high);
  sentences.push_back(
      {sentence(fmt::format("the verdicts on time rest on {} per side, at a false discovery rate of 5 % over {}",
                            processes, counted(replicates.size(), "case")))});
}

void add_means(std::vector<Sentence>& sentences, const compare::Comparison& comparison) {
  Texts texts;
  for (const compare::FamilyMean& mean : comparison.families) {
    texts.push_back(fmt::format("{} {:.3f} times as long ({})", mean.family, mean.ratio, counted(mean.cases, "case")));
  }
  if (texts.empty()) return;
  sentences.push_back({sentence("on the whole it takes, by the geometric mean: " + join(texts, ", "))});
}

/// Adds the cases that ran on only one of the two GPUs.
void add_ran_on_one(std::vector<Sentence>& sentences, const compare::Comparison& comparison,
                    const render::ShortNames& names_of) {
  for (const bool on_base : {true, false}) {
    Texts names;
    for (const CaseComparison& c : comparison.cases) {
      const compare::SideOfCase& ran = on_base ? c.base : c.next;
      const compare::SideOfCase& other = on_base ? c.next : c.base;
      if (ran.time && !other.time)
        names.push_back(fmt::format("{} ({} on the other)", names_of(c.id), to_string(other.status)));
    }
    if (names.empty()) continue;
    const std::string& device = on_base ? comparison.base.device : comparison.next.device;
    sentences.push_back(
        {sentence(fmt::format("{} ran on {} alone: {}", counted(names.size(), "case"), device, listed(names, "; "))),
         Tone::kWarning});
  }
}

/// Adds the range of the ratios, with the cases that are relatively fastest and slowest on the other GPU.
void add_extremes(std::vector<Sentence>& sentences, const compare::Comparison& comparison,
                  const render::ShortNames& names) {
  const CaseComparison* low = nullptr;
  const CaseComparison* high = nullptr;
  for (const CaseComparison& c : comparison.cases) {
    if (!c.ratio) continue;
    if (low == nullptr || *c.ratio < *low->ratio) low = &c;
    if (high == nullptr || *c.ratio > *high->ratio) high = &c;
  }
  if (low == nullptr || low == high) return;
  sentences.push_back({sentence(fmt::format("the ratios go from {:.3f} ({}) to {:.3f} ({})", *low->ratio,
                                            names(low->id), *high->ratio, names(high->id)))});
}

}  // namespace

SummaryPart comparison_part(const FileComparison& against, std::span<const results::NamedResults> results) {
  SummaryPart part{.heading = fmt::format("{} against {}", results[against.file].label, results.front().label),
                   .sentences = {}};
  if (!against.comparison) {
    part.sentences.push_back({sentence("not compared: " + against.refused), Tone::kBad});
    return part;
  }
  const compare::Comparison& comparison = *against.comparison;
  std::vector<CaseId> ids;
  for (const CaseComparison& c : comparison.cases) ids.push_back(c.id);
  const render::ShortNames names{ids, render::ShortNames::Numbers::kWithKeys};
  if (comparison.cross) {
    part.sentences.push_back(
        {sentence(fmt::format("{} against {}: different devices, so there are ratios and no verdicts",
                              comparison.next.device, comparison.base.device))});
  } else {
    add_outcomes(part.sentences, comparison, names);
    add_certainty(part.sentences, comparison);
  }
  add_means(part.sentences, comparison);
  if (comparison.cross) {
    add_extremes(part.sentences, comparison, names);
    add_ran_on_one(part.sentences, comparison, names);
  }
  for (const std::string& warning : comparison.warnings) {
    if (warning.ends_with("the run was interrupted")) continue;  // the part of the file says so already
    part.sentences.push_back({sentence(warning), Tone::kWarning});
  }
  return part;
}

}  // namespace tbench::html
