// Summarises a collection of results: files that do not compare two builds.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "html/summary.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/studies/headline.hpp"

namespace tbench::html {
namespace {

constexpr std::size_t kMinFiles = 3;

std::set<std::string> gpu_models(std::span<const results::NamedResults> results) {
  std::set<std::string> models;
  for (const results::NamedResults& result : results) {
    if (result.file.environment.gpu) models.insert(result.file.environment.gpu->name);
  }
  return models;
}

/// Returns the sentences above the tables of the headline report for the files measured on a GPU. Returns none if there
/// are no such files, or if no Model case in them has a time.
std::vector<std::string> headline_answers(std::span<const results::NamedResults> results) {
  std::vector<results::NamedResults> of_gpus;
  std::ranges::copy_if(results, std::back_inserter(of_gpus),
                       [](const auto& result) { return result.file.environment.gpu.has_value(); });
  if (of_gpus.empty()) return {};
  try {
    return studies::headline_report(of_gpus, {}).answers;
  } catch (const UsageError&) {  // no case of Model has a time
    return {};
  }
}

}  // namespace

std::optional<SummaryPart> collection_part(std::span<const results::NamedResults> results,
                                           std::span<const FileComparison> comparisons) {
  const std::size_t unrelated = results.size() - 1 - comparisons.size();
  const bool has_models = results.size() >= kMinFiles && gpu_models(results).size() > 1;
  if (unrelated == 0 && !has_models) return std::nullopt;
  SummaryPart part{.heading = "All files together", .sentences = {}, .is_of_all = true};
  for (std::string& answer : headline_answers(results)) part.sentences.push_back({std::move(answer)});
  if (unrelated > 0) {
    part.sentences.push_back(
        {fmt::format("{} {} too few cases in common with {} to be compared with it.", counted(unrelated, "file"),
                     agreeing(unrelated, "has", "have"), results.front().label)});
  }
  return part;
}

}  // namespace tbench::html
