// Values that a study takes from the cases of results files: plug-ins, and the values of open axes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/studies/study.hpp"

namespace tbench::studies {

/// Returns whether any file has a case of the family with the value.
[[nodiscard]] bool is_measured(std::span<const results::NamedResults> results, const std::string& family,
                               const CaseId::Parameter& value);

/// Returns the names of the plug-ins in Environment::versions for which the same file has cases of the family, each
/// once.
[[nodiscard]] std::vector<std::string> plugin_names(std::span<const results::NamedResults> results,
                                                    const std::string& family);

/// Returns the files of the plug-ins in a study's columns, each once, as --tb_plugin takes them. Results keep no
/// folders.
[[nodiscard]] std::vector<std::string> plugin_files(std::span<const results::NamedResults> results, const Study& study);

/// Returns the values of an axis without values: the numbers in the family's cases. If there are none, returns the
/// numbers in the cases of the study's other families. If there are none either, returns the smallest number of several
/// ranks.
[[nodiscard]] std::vector<std::string> open_values(std::span<const results::NamedResults> results, const Study& study,
                                                   const std::string& family, const std::string& key);

}  // namespace tbench::studies
