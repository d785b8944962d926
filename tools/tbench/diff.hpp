// The command line of `tbench diff`, which sections of a document with a comparison use, too.
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

/// Declares the flags for the files and the comparison. `arguments` must outlive the parsing.
void declare_comparison_options(CLI::App& command, DiffArguments& arguments);

/// Returns the comparison as Markdown for a document.
/// @param folder  folder to which the arguments' paths are relative
/// @throws        UsageError  for arguments that do not fit together, and for files that cannot be read
[[nodiscard]] std::string comparison_markdown(DiffArguments arguments, const std::filesystem::path& folder);

}  // namespace tbench::tool
