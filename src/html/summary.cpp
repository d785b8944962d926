#include "html/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/render/run_console.hpp"
#include "tbench/render/terminal.hpp"

namespace tbench::html {
namespace {

using Texts = std::vector<std::string>;

std::string samples_text(const results::ResultFile& file) {
  std::vector<std::size_t> counts;
  for (const Record& record : file.records) {
    if (record.timing) counts.push_back(record.timing->samples_s.size());
  }
  if (counts.empty()) return "";
  const auto [low, high] = std::ranges::minmax(counts);
  std::string text = low == high ? fmt::format("a time is the median of {}", counted(low, "sample"))
                                 : fmt::format("a time is the median of {} to {}", low, counted(high, "sample"));
  if (const auto processes = file.options.find("processes"); processes != file.options.end()) {
    text += fmt::format(" in each of {} processes", processes->second);
  }
  return text;
}

Sentence what_was_measured(const results::ResultFile& file) {
  const Environment& environment = file.environment;
  std::set<std::string> names;
  for (const Record& record : file.records) names.insert(record.id.name());
  std::string text = fmt::format("{} on {}", counted(names.size(), "case"),
                                 environment.gpu ? environment.gpu->name : environment.cpu_name + ", without a GPU");
  if (environment.gpu && environment.gpu->mig.value_or(false)) text += " (a MIG instance, not the whole GPU)";
  if (!environment.date.empty()) text += fmt::format(", {}", render::format_day(environment.date));
  if (const std::string samples = samples_text(file); !samples.empty()) text += "; " + samples;
  return {sentence(text)};
}

struct Reason {
  std::string text;
  Texts cases;
};

/// Returns the reasons why cases of one status have no time, the most frequent one first. Cases that ran out of memory
/// count as one reason, since their reasons differ only in the number of bytes.
std::vector<Reason> reasons_of(std::span<const Record> records, Status status, const render::ShortNames& names) {
  std::vector<Reason> reasons;
  for (const Record& record : records) {
    if (record.status != status) continue;
    const std::string text = status == Status::kOom ? "" : record.reason;
    auto found = std::ranges::find(reasons, text, &Reason::text);
    if (found == reasons.end()) found = reasons.insert(reasons.end(), Reason{.text = text, .cases = {}});
    const std::string name = names(record.id);
    if (std::ranges::find(found->cases, name) == found->cases.end()) found->cases.push_back(name);
  }
  std::ranges::stable_sort(reasons, std::greater{}, [](const Reason& reason) { return reason.cases.size(); });
  return reasons;
}

/// Returns the words that stand for a status where a time is missing.
std::string could_not(Status status, std::size_t count) {
  const bool one = count == 1;
  const std::string cases = counted(count, "case");
  if (status == Status::kOom) return fmt::format("{} {} not fit into the GPU's memory", cases, one ? "does" : "do");
  if (status == Status::kUnsupported) return fmt::format("{} cannot run here", cases);
  if (status == Status::kIncorrect) return fmt::format("{} gave a wrong result", cases);
  if (status == Status::kTimeout) return fmt::format("{} gave no sign of life in time", cases);
  return fmt::format("{} crashed", cases);
}

void add_failures(std::vector<Sentence>& sentences, std::span<const Record> records) {
  std::vector<CaseId> ids;
  for (const Record& record : records) ids.push_back(record.id);
  const render::ShortNames names{ids, render::ShortNames::Numbers::kWithKeys};
  for (const Status status : kAllOf<Status>) {
    if (has_time(status)) continue;
    const std::vector<Reason> reasons = reasons_of(records, status, names);
    if (reasons.empty()) continue;
    std::size_t count = 0;
    Texts texts;
    for (const Reason& reason : reasons) {
      count += reason.cases.size();
      const std::string cases = listed(reason.cases, ", ");
      texts.push_back(reason.text.empty() ? cases : fmt::format("{} ({})", cases, shortened(reason.text)));
    }
    sentences.push_back({sentence(fmt::format("{}: {}", could_not(status, count), listed(texts, "; "))),
                         is_failure(status) ? Tone::kBad : Tone::kWarning});
  }
}

SummaryPart part_of(const results::NamedResults& result) {
  SummaryPart part{.heading = result.label, .sentences = {what_was_measured(result.file)}};
  if (result.file.interrupted) {
    part.sentences.push_back({sentence("the run was interrupted before its last case"), Tone::kWarning});
  }
  add_failures(part.sentences, result.file.records);
  for (const render::Finding& finding : render::findings_of(result.file.records)) {
    part.sentences.push_back({sentence(finding.text), finding.is_warning ? Tone::kWarning : Tone::kPlain});
  }
  return part;
}

constexpr std::size_t kNamed = 3;

}  // namespace

std::vector<SummaryPart> page_summary(std::span<const results::NamedResults> results,
                                      std::span<const FileComparison> comparisons) {
  std::vector<SummaryPart> parts;
  if (auto part = collection_part(results, comparisons)) parts.push_back(std::move(*part));
  for (const results::NamedResults& result : results) parts.push_back(part_of(result));
  for (const FileComparison& comparison : comparisons) parts.push_back(comparison_part(comparison, results));
  return parts;
}

results::Json summary_json(std::span<const SummaryPart> parts) {
  constexpr std::array<const char*, 4> kTones{"", "good", "warn", "bad"};
  results::Json json = results::Json::array();
  for (const SummaryPart& part : parts) {
    results::Json sentences = results::Json::array();
    for (const Sentence& s : part.sentences)
      sentences.push_back(results::Json::array({s.text, kTones.at(static_cast<std::size_t>(s.tone))}));
    json.push_back(results::Json::array({part.heading, std::move(sentences)}));
  }
  return json;
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", render::format_thousands(static_cast<double>(count)), noun, agreeing(count, "", "s"));
}

std::string shortened(std::string_view text) {
  constexpr std::size_t kWidth = 120;
  return render::fit(render::one_line(text), kWidth);
}

std::string sentence(std::string text) {
  if (!text.empty()) text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text + ".";
}

std::string listed(std::span<const std::string> entries, std::string_view separator) {
  const std::size_t named = std::min(kNamed, entries.size());
  std::string text = join(entries.first(named), separator);
  if (entries.size() > named) text += fmt::format("{}{} more", separator, entries.size() - named);
  return text;
}

}  // namespace tbench::html
