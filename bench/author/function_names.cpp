#include "bench/author/function_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "bench/author/captured_output.hpp"
#include "bench/author/tools.hpp"
#include "bench/plan/python_function.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/text.hpp"
#include "tbench/process/command.hpp"

namespace tbench::bench {
namespace {

constexpr const char* kAnyName = "*";  // tools/kernel_export/defined_names.py

struct ToolAnswer {
  int status{};
  std::vector<std::string> lines;  // not empty
};

/// Returns the answer of tools/kernel_export/defined_names.py; nullopt without the tool or Python.
std::optional<ToolAnswer> defined_names(const std::string& file) {
  const std::optional<std::string> tool = find_tool("kernel_export/defined_names.py");
  if (!tool) return std::nullopt;
  const CapturedOutput output;
  try {
    const int status = process::Command{{find_python(), *tool, file}, output.descriptors()}.wait();
    std::string text = output.text();
    if (text.ends_with('\n')) text.pop_back();
    return ToolAnswer{.status = status, .lines = split(text, '\n')};
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

void check_function(const model::Plugin& plugin) {
  const PythonFunction function = parse_python_function(plugin.path);
  const std::optional<ToolAnswer> answer = defined_names(function.file);
  if (!answer) return;
  if (answer->status != kExitOk) {
    throw UsageError{fmt::format("--tb_plugin={}: the file is not readable Python: {}. Fix it, or name another file.",
                                 plugin.path, answer->lines.back())};
  }
  const std::vector<std::string>& names = answer->lines;
  const auto has = [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); };
  if (has(function.function) || has(kAnyName)) return;
  const std::string fault =
      fmt::format("--tb_plugin={}: the file has no function '{}'", plugin.path, function.function);
  throw UsageError{with_suggestion(fault, function.function, names, "names")};
}

}  // namespace

void check_functions(std::span<const model::Plugin> plugins) {
  for (const model::Plugin& plugin : plugins) {
    if (model::is_python_function(plugin.path)) check_function(plugin);
  }
}

}  // namespace tbench::bench
