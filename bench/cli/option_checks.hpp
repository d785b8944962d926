// CLI11 checks whose errors name the value, the expected form and the nearest choice.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace tbench::bench {

/// The names of an option's choices, with the enumerators to which one_of() converts them for CLI11. Its error reads
/// "'gpu' is not one of auto, cuda, cpu; did you mean 'cuda'?". --help shows the names.
template <class Enum>
using Choices = std::vector<std::pair<std::string, Enum>>;
[[nodiscard]] CLI::Validator one_of(const Choices<int>& choices);
template <class Enum>
[[nodiscard]] CLI::Validator one_of(const Choices<Enum>& choices) {
  Choices<int> numbered;
  for (const auto& [name, value] : choices) numbered.emplace_back(name, static_cast<int>(value));
  return one_of(numbered);
}

/// Accepts whole numbers of at least `min`; its error reads "'ten' is not a whole number of at least 1".
/// @param time_flag  flag to suggest for a time, as in `2s`; empty if there is none
[[nodiscard]] CLI::Validator whole_number(std::int64_t min, std::string time_flag = {});

/// Accepts numbers above 0; its error reads "'16GiB' is not a number of GiB above 0; did you mean '16'?".
[[nodiscard]] CLI::Validator positive_gib();

/// Accepts seconds: a finite number of at least 0, with or without the "s" that Google Benchmark 1.8 writes. Removes
/// the "s" from the value.
/// @param count_flag  flag to suggest for a count of iterations, Google Benchmark's `10x`; empty if there is none
[[nodiscard]] CLI::Validator seconds(std::string count_flag);

/// Accepts KEY=VALUE with a key that is not empty.
[[nodiscard]] CLI::Validator key_value();

/// Accepts a readable file whose name ends in .so, .pt2, or .py followed by the name of a function.
[[nodiscard]] CLI::Validator plugin_file();

/// Returns why results cannot be written to a path: it has the ending of a table or a page. Empty for other paths.
[[nodiscard]] std::string wrong_results_name(const std::string& path);

/// Accepts the path of a page to write, which ends in .html and whose folder is writable.
[[nodiscard]] CLI::Validator page_file();

/// Accepts a folder that contains at least one file with the given extension.
/// @param extension  file name extension with the dot
/// @param remedy     the way to make such a file, for the error
[[nodiscard]] CLI::Validator folder_with(std::string extension, std::string remedy);

}  // namespace tbench::bench
