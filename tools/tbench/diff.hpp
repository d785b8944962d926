// The command line of `tbench diff`, and of the sections of a document that hold a comparison.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tbench/compare/comparison.hpp"

namespace tbench::tool {

struct DiffArguments {
  std::vector<std::string> base;
  std::vector<std::string> next;
  compare::CompareOptions options;
  std::string db;
  std::string spreads;
  std::optional<double> tau_percent;
  bool cross{};
  bool strict{};
  std::string sort;
  // Form of the output.
  bool markdown{};
  bool all{};
  bool json{};
  bool csv{};
  std::string junit;
};

/// Declares the flags for the files and the comparison. `arguments` outlives the parsing.
void declare_comparison_options(CLI::App& command, DiffArguments& arguments);

/// The comparison as a document shows it.
/// @param folder  what the arguments' paths are relative to
/// @throws        UsageError  for arguments that do not fit and files that cannot be read
[[nodiscard]] std::string comparison_markdown(DiffArguments arguments, const std::filesystem::path& folder);

}  // namespace tbench::tool
