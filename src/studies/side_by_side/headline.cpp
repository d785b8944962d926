#include "tbench/studies/headline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "studies/engine/case_parameters.hpp"
#include "studies/side_by_side/headline_attention.hpp"
#include "studies/side_by_side/headline_comparison.hpp"
#include "studies/side_by_side/headline_quantities.hpp"
#include "studies/side_by_side/headline_steps.hpp"
#include "studies/side_by_side/headline_tables.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/markup.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/render/summary.hpp"
#include "tbench/results/conclusion.hpp"

namespace tbench::studies {
namespace {

using Texts = std::vector<std::string>;

/// Returns the sentence on one GPU model by itself: its range of tokens/s and MFU.
std::string answer_of(const HeadlineSteps& steps, const HeadlineGpu& gpu) {
  std::vector<const HeadlineStep*> timed;
  for (const HeadlineStep& step : steps.steps) {
    if (step.gpu == &gpu && step.record->timing) timed.push_back(&step);
  }
  if (timed.empty()) return fmt::format("{}: no size has a time.", gpu.name);
  const auto rate = [](const HeadlineStep* step) { return tokens_per_second(*step).value_or(0); };
  const auto [least, most] = std::ranges::minmax(timed, {}, rate);
  std::string sentence =
      fmt::format("{}: {} tokens/s ({})", gpu.name, render::format_thousands(rate(most)), most->size);
  if (most != least) sentence += fmt::format(" to {} ({})", render::format_thousands(rate(least)), least->size);
  std::vector<double> utilizations;
  for (const HeadlineStep* const step : timed) {
    if (const auto percent = mfu_percent(*step)) utilizations.push_back(*percent);
  }
  if (utilizations.empty()) return sentence + ".";
  const auto [low, high] = std::ranges::minmax(utilizations);
  return low == high ? fmt::format("{}, MFU {:.1f} %.", sentence, low)
                     : fmt::format("{}, MFU {:.1f} to {:.1f} %.", sentence, low, high);
}

Texts answers_of(const HeadlineSteps& steps, std::span<const HeadlineGpu> gpus) {
  Texts answers = step_comparisons(steps, gpus);
  for (const HeadlineGpu& gpu : gpus) answers.push_back(answer_of(steps, gpu));
  return answers;
}

/// Returns a line per file, or a line per GPU model if there are many files.
Texts sources_of(std::span<const results::NamedResults> results, std::span<const HeadlineGpu> gpus) {
  constexpr std::size_t kMax = 8;
  Texts sources;
  if (results.size() > kMax) {
    for (const HeadlineGpu& gpu : gpus) {
      sources.push_back(
          fmt::format("{}: {}, {}", gpu.facts->name, counted(gpu.files, "file"), builds_text(gpu.builds)));
    }
    return sources;
  }
  for (const results::NamedResults& result : results) {
    sources.push_back(source_line(result));
  }
  return sources;
}

/// Returns the notes on the records: several of a case, older ones, and the sizes that a GPU model did not run.
Texts record_notes(const HeadlineSteps& steps, std::span<const HeadlineGpu> gpus) {
  Texts notes;
  std::size_t processes = 1;
  for (const HeadlineStep& step : steps.steps) processes = std::max(processes, step.processes);
  if (processes > 1)
    notes.push_back(fmt::format("Several measurements of a case: the middle one (of at most {}).", processes));
  for (const HeadlineGpu& gpu : gpus) {
    if (gpu.older_records == 0) continue;
    std::string note = fmt::format("{}: of each case, the records of the newest build; left out {}", gpu.name,
                                   counted(gpu.older_records, "older record"));
    if (!gpu.older_builds.empty()) note += ", among them all of " + builds_text(gpu.older_builds);
    notes.push_back(note + ".");
  }
  if (const std::string missing = not_measured(steps, gpus); !missing.empty()) {
    notes.push_back(fmt::format("Not measured: {}.", missing));
  }
  return notes;
}

/// Returns a note on steps for which NVML reports more power than the limit; empty if there are none.
std::string power_note(const HeadlineSteps& steps) {
  Texts above;
  for (const HeadlineStep& step : steps.steps) {
    const std::optional<double> limit = step.gpu->facts->power_limit_w;
    if (!step.record->device || !step.record->device->power || !limit) continue;
    const double power = step.record->device->power->value;
    if (power > *limit) above.push_back(fmt::format("{} {} {:.0f} W", step.size, step.gpu->name, power));
  }
  if (above.empty()) return "";
  return fmt::format("NVML reports more power than the limit, because it averages: {}.", join(above, ", "));
}

/// Returns notes on the column of prices, and on the GPU models without a price if others have one.
Texts price_notes(std::span<const HeadlineGpu> gpus) {
  Texts prices;
  Texts lacking;
  for (const HeadlineGpu& gpu : gpus) {
    if (gpu.price_per_hour) {
      prices.push_back(fmt::format("{} {:.2f}", gpu.name, *gpu.price_per_hour));
    } else {
      lacking.push_back(fmt::format("--price={}=PRICE", results::command_line({{gpu.name}})));
    }
  }
  if (prices.empty()) return {};
  Texts notes{fmt::format("The {} is for these prices per hour: {}.", kPriceHeader, join(prices, ", "))};
  if (!lacking.empty()) notes.push_back(fmt::format("A GPU has no price; add {}.", join(lacking, " ")));
  return notes;
}

/// Returns a note on the builds of the steps of each GPU model.
std::string build_note(const HeadlineSteps& steps, std::span<const HeadlineGpu> gpus) {
  std::set<std::string> names;
  Texts parts;
  for (const HeadlineGpu& gpu : gpus) {
    std::vector<const Record*> records;
    for (const HeadlineStep& step : steps.steps) {
      if (step.gpu == &gpu) records.push_back(step.record);
    }
    if (records.empty()) continue;
    const std::vector<HeadlineBuild> builds = builds_of(gpu, records);
    for (const HeadlineBuild& build : builds) names.insert(build.name);
    parts.push_back(fmt::format("{} {}", gpu.name, builds_text(builds)));
  }
  const std::string note = fmt::format("Builds of the steps: {}.", join(parts, "; "));
  if (names.size() < 2) return note;
  return note + (parts.size() > 1 ? " A difference between builds shows as one between GPUs." : "");
}

/// Returns the notes below the tables.
Texts notes_of(const HeadlineSteps& steps, std::span<const HeadlineGpu> gpus, const std::string& used_marks) {
  Texts notes = record_notes(steps, gpus);
  for (const std::string& meaning : render::legend_of(used_marks)) notes.push_back(meaning + ".");
  if (std::string note = power_note(steps); !note.empty()) notes.push_back(std::move(note));
  std::ranges::move(price_notes(gpus), std::back_inserter(notes));
  notes.push_back(build_note(steps, gpus));
  return notes;
}

}  // namespace

GpuPrice parse_price(const std::string& text, const std::string& flag) {
  const std::size_t place = text.rfind('=');
  const char* const end = text.data() + text.size();
  double price = 0;
  if (place != std::string::npos && place > 0) {
    const auto [stop, error] = std::from_chars(text.data() + place + 1, end, price);
    if (error == std::errc{} && stop == end && price > 0 && std::isfinite(price)) {
      return {.gpu = text.substr(0, place), .per_hour = price};
    }
  }
  throw UsageError{fmt::format("{}: '{}' is not GPU=PRICE with a price per hour above 0, e.g. H100=2.00", flag, text)};
}

StudyReport headline_report(std::span<const results::NamedResults> results, const HeadlineOptions& options) {
  const std::vector<HeadlineGpu> gpus = headline_gpus(results, options);
  const HeadlineSteps steps = headline_steps(gpus);
  StudyReport report;
  report.title = "headline: " + headline_work(steps);
  report.sources = sources_of(results, gpus);
  std::string used_marks;
  report.answers = answers_of(steps, gpus);
  report.sections.push_back(headline_steps_section(steps, used_marks));
  if (auto section = headline_memory_section(gpus)) {
    report.answers.push_back(fmt::format("{} on one of the GPUs alone: another lacks the memory.",
                                         counted(section->rows.size(), "case runs", "cases run")));
    report.sections.push_back(std::move(*section));
  }
  if (auto attention = headline_attention(gpus, value_or_empty(steps.common, "precision"))) {
    std::ranges::move(attention->answers, std::back_inserter(report.answers));
    report.sections.push_back(std::move(attention->section));
  }
  report.notes = notes_of(steps, gpus, used_marks);
  return report;
}

}  // namespace tbench::studies
