// The opening of a page of results: sentences about its files that follow from rules.
#pragma once

#include <cstddef>
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

/// The sentences about one file, or about one against the first.
struct SummaryPart {
  std::string heading;
  std::vector<Sentence> sentences;
};

/// The part of a comparison, as page_summary says.
[[nodiscard]] SummaryPart comparison_part(const FileComparison& against,
                                          std::span<const results::NamedResults> results);

/// A part per file, then a part per comparison. For a file: which GPU, how many cases, how they were measured; what
/// could not run, by status and reason; and render::findings_of. For a comparison: a sentence for each verdict that
/// there is, with the cases that changed the most, and how sure that is; between different GPUs how many times as long
/// each family takes.
[[nodiscard]] std::vector<SummaryPart> page_summary(std::span<const results::NamedResults> results,
                                                    std::span<const FileComparison> comparisons);

/// Pairs of heading and sentences, which are pairs of text and tone: an empty one, `good`, `warn`, `bad`.
[[nodiscard]] results::Json summary_json(std::span<const SummaryPart> parts);

/// `1 case`, `2 cases`.
[[nodiscard]] std::string counted(std::size_t count, std::string_view noun);

/// Shortens what a program said, so that it does not fill the page: the table has all of it.
[[nodiscard]] std::string shortened(std::string_view text);

/// Returns the text with a capital and a full stop.
[[nodiscard]] std::string sentence(std::string text);

/// The first three, and how many there are besides.
[[nodiscard]] std::string listed(std::span<const std::string> entries, std::string_view separator);

}  // namespace tbench::html
