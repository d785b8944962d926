// CLI11 checks whose errors name the value, what is expected, and the nearest choice.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace tbench::bench {

/// Turns a choice's name into its enumerator, as CLI11 reads enumerations: "'gpu' is not one of auto, cuda, cpu".
template <class Enum>
using Choices = std::vector<std::pair<std::string, Enum>>;
[[nodiscard]] CLI::Validator one_of(const Choices<int>& choices);
template <class Enum>
[[nodiscard]] CLI::Validator one_of(const Choices<Enum>& choices) {
  Choices<int> numbered;
  for (const auto& [name, value] : choices) numbered.emplace_back(name, static_cast<int>(value));
  return one_of(numbered);
}

/// "'ten' is not a whole number of at least 1".
[[nodiscard]] CLI::Validator whole_number(std::int64_t min);

/// "'0' is not a number of GiB above 0".
[[nodiscard]] CLI::Validator positive_number(std::string unit);

/// Seconds as a finite number of at least 0, with or without the "s" that Google Benchmark 1.8 writes. The value comes
/// out without it.
[[nodiscard]] CLI::Validator seconds();

/// KEY=VALUE with a key.
[[nodiscard]] CLI::Validator key_value();

/// A file that can be read and whose name ends in .so or .pt2, or in .py and has a function's name behind it.
[[nodiscard]] CLI::Validator plugin_file();

/// The path of a page to write: it ends in .html, and its folder can be written.
[[nodiscard]] CLI::Validator page_file();

/// A folder with at least one file of this kind.
/// @param extension  of the file, with the dot
/// @param remedy     what makes one
[[nodiscard]] CLI::Validator folder_with(std::string extension, std::string remedy);

}  // namespace tbench::bench
