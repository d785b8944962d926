#include "bench/plan/python_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/model/kernel_case.hpp"

namespace tbench::bench {
namespace {

constexpr std::size_t kLongestName = 32;

/// The smallest extent that a package serves without --fix, and the step of its sequence lengths, as in EXTENTS of
/// tools/kernel_export/operations.py.
constexpr std::int64_t kMinExtent = 2;
constexpr std::int64_t kSequenceStep = 8;

std::string part_of(const std::string& op) {
  if (op == "attention") return "Attention";
  return op == "gemm" ? "Gemm" : "Kernel/op:" + op;
}

bool is_letter_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Returns the extents of an attention case that its package has to fix.
std::string fixed_extents(const CaseId& id) {
  std::vector<std::string> fixed;
  for (const char* const extent : {"batch", "heads"}) {
    if (id.int_at(extent) < kMinExtent) fixed.push_back(fmt::format("{}={}", extent, id.int_at(extent)));
  }
  const std::int64_t seq_len = id.int_at("seq_len");
  if (seq_len % kSequenceStep != 0 || seq_len < kMinExtent * kSequenceStep) {
    fixed.push_back(fmt::format("seq_len={}", seq_len));
  }
  fixed.push_back(fmt::format("head_dim={}", id.int_at("d_model") / id.int_at("heads")));
  return join(fixed, ",");
}

/// Whether a case uses the plug-in's operation in a precision for which packages exist.
bool is_case_of(const model::Plugin& plugin, const CaseId& id) {
  const std::string* const impl = id.find("impl");
  const std::string* const precision = id.find("precision");
  if (impl == nullptr || precision == nullptr || *impl != plugin.name || precision->starts_with("fp8")) return false;
  const std::string* const op = id.find("op");
  return plugin.parts.front() == (op == nullptr ? id.family() : fmt::format("{}/op:{}", id.family(), *op));
}

}  // namespace

PythonFunction parse_python_function(const std::string& path) {
  PythonFunction function{.file = model::file_of_plugin(path), .function = {}, .op = "attention"};
  function.function = path.substr(function.file.size() + 1);
  const std::vector<std::string> ops = model::kernel_op_names();
  const bool is_op = function.function == "gemm" || std::ranges::find(ops, function.function) != ops.end();
  if (is_op) function.op = function.function;
  return function;
}

model::Plugin declared_function(const std::string& path) {
  const PythonFunction function = parse_python_function(path);
  const std::string& name = function.function;
  if (name.size() > kLongestName || !std::ranges::all_of(name, &is_letter_of_name)) {
    throw UsageError{fmt::format(
        "--tb_plugin={}: '{}' is not the name of a function of 1 to {} letters, digits and '_': give FILE.py:FUNCTION",
        path, name, kLongestName)};
  }
  const std::string file = std::filesystem::absolute(function.file).lexically_normal().string();
  return {.path = fmt::format("{}:{}", file, name),
          .name = name,
          .digest = model::digest_of_file(file),
          .parts = {part_of(function.op)}};
}

std::vector<PackageNeed> needed_packages(const model::Plugin& plugin, std::span<const CaseId> cases) {
  std::vector<PackageNeed> needs;
  for (const CaseId& id : cases) {
    if (!is_case_of(plugin, id)) continue;
    PackageNeed need{.precision = id.at("precision"),
                     .fix = plugin.parts.front() == "Attention" ? fixed_extents(id) : std::string{}};
    if (std::ranges::find(needs, need) == needs.end()) needs.push_back(std::move(need));
  }
  return needs;
}

}  // namespace tbench::bench
