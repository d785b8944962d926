// The summary at the beginning of a page of results: sentences about its files that follow from rules.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "html/page.hpp"

namespace tbench::html {

enum class Tone { kPlain, kGood, kWarning, kBad };

struct Sentence {
  std::string text;
  Tone tone{Tone::kPlain};
};

/// The sentences about one file, about the comparison of a file with the first one, or about all files together.
struct SummaryPart {
  std::string heading;
  std::vector<Sentence> sentences;
  bool is_of_all{};
};

/// Returns the part about all files together if they are a collection: one is not comparable with the first, or at
/// least three files are of several GPU models. It has the answers of studies::headline_report() if the files allow a
/// headline, and the number of files that are not compared with the first. Otherwise returns nullopt.
[[nodiscard]] std::optional<SummaryPart> collection_part(std::span<const results::NamedResults> results,
                                                         std::span<const FileComparison> comparisons);

/// Returns the part for a comparison, as page_summary() describes it.
[[nodiscard]] SummaryPart comparison_part(const FileComparison& against,
                                          std::span<const results::NamedResults> results);

/// Returns collection_part(), a part per file, then a part per comparison. The part of a file names the GPU, the number
/// of cases and the settings of the measurement, then the cases without a time by status and reason, then
/// render::findings_of(). The part of a comparison has a sentence for each verdict that occurs, with the cases that
/// changed the most, and says how certain the verdicts are. Between different GPUs, it has the ratio of the times of
/// each family instead.
[[nodiscard]] std::vector<SummaryPart> page_summary(std::span<const results::NamedResults> results,
                                                    std::span<const FileComparison> comparisons);

/// Returns the parts as pairs of a heading and its sentences. A sentence is a pair of a text and a tone: ``, `good`,
/// `warn` or `bad`.
[[nodiscard]] results::Json summary_json(std::span<const SummaryPart> parts);

/// Returns a count with its noun: `1 case`, `2 cases`.
[[nodiscard]] std::string counted(std::size_t count, std::string_view noun);

/// Shortens a program's message, so that it does not fill the page. The table shows the whole message.
[[nodiscard]] std::string shortened(std::string_view text);

/// Returns the text as a sentence, with a capital letter and a full stop.
[[nodiscard]] std::string sentence(std::string text);

/// Returns the first three entries, and the number of the others.
[[nodiscard]] std::string listed(std::span<const std::string> entries, std::string_view separator);

}  // namespace tbench::html
