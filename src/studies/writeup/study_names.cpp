#include "studies/writeup/study_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "studies/writeup/chapters.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/text.hpp"
#include "tbench/studies/writeup.hpp"

namespace tbench::studies {
namespace {

using Subject = std::pair<std::string_view, std::string_view>;

/// Subjects that no study has as its name, and the study that shows them.
constexpr std::array kSubjects{
    Subject{"optimizer", "phases"},      Subject{"adamw", "phases"},    Subject{"forward", "phases"},
    Subject{"backward", "phases"},       Subject{"time", "end_to_end"}, Subject{"tokens", "end_to_end"},
    Subject{"throughput", "end_to_end"}, Subject{"graphs", "step"},     Subject{"compile", "step"}};

/// Returns the letters and digits of a name in lower case.
std::string plain(std::string_view name) {
  std::string letters;
  for (const char letter : name) {
    const auto code = static_cast<unsigned char>(letter);
    if (std::isalnum(code) != 0) letters += static_cast<char>(std::tolower(code));
  }
  return letters;
}

/// Returns the names of a chapter's studies, each once: as many as fit after a message of `used` columns, then `...`.
std::string studies_of(const Chapter& chapter, std::size_t used) {
  constexpr std::size_t kMostColumns = 100 - 8 - 1;  // without the name of `tbench` and the closing bracket
  constexpr std::string_view kMore = ", ...";
  std::vector<std::string> names;
  for (const Study& study : chapter.studies) {
    if (std::ranges::find(names, study.name) == names.end()) names.push_back(study.name);
  }
  std::string text;
  for (const std::string& name : names) {
    const std::string longer = text + (text.empty() ? "" : ", ") + name;
    const std::size_t more = &name == &names.back() ? 0 : kMore.size();
    if (!text.empty() && used + longer.size() + more > kMostColumns) return text + std::string{kMore};
    text = longer;
  }
  return text;
}

/// Returns what the name is if it is a chapter of a built-in write-up, or an empty text.
/// @param flag  `--study=NAME`
std::string chapter_text(std::string_view name, const std::string& flag) {
  for (const BuiltInWriteup& writeup : built_in_writeups()) {
    for (const Chapter& chapter : writeup.chapters()) {
      if (plain(chapter.title) != plain(name)) continue;
      const std::string message = fmt::format("{}: a chapter of {}, not a study (studies: ", flag, writeup.name);
      return fmt::format("{}{})", message, studies_of(chapter, message.size()));
    }
  }
  return "";
}

}  // namespace

UsageError unknown_study(std::string_view name, std::string_view flag) {
  const std::string given = fmt::format("{}={}", flag, name);
  const std::string message = given + ": no such study";
  const auto subject = std::ranges::find(kSubjects, plain(name), &Subject::first);
  if (subject != kSubjects.end()) return UsageError{message + did_you_mean_text(std::string{subject->second})};
  const std::vector<std::string> known = known_study_names();
  const std::string chapter = recognise_value(name, known) ? "" : chapter_text(name, given);
  if (!chapter.empty()) return UsageError{chapter};
  return UsageError{with_suggestion(message, name, known, "studies")};
}

}  // namespace tbench::studies
