#include <fmt/format.h>

#include <cctype>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "profile/rule_source.hpp"
#include "tbench/core/text.hpp"
#include "tbench/profile/kernel_name.hpp"

namespace tbench::profile {
namespace {

constexpr std::string_view kOurNames = "tbench::";
constexpr std::string_view kSeparator = "::";

using Renames = std::map<std::string, std::string, std::less<>>;  // old to new name, both with their namespaces

Renames parse_renames(std::string_view text) {
  Renames renames;
  for (const std::string& line : split(text, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::vector<std::string> names = split(line, '\t');
    const bool is_row = names.size() == 2 && names[0].starts_with(kOurNames) && names[1].starts_with(kOurNames);
    if (!is_row || !renames.emplace(names[0], names[1]).second) {
      throw std::logic_error{fmt::format("kernel_renames.tsv: '{}' is not an old name and a new one", line)};
    }
  }
  return renames;
}

const Renames& renames() {
  static const Renames kRenames = parse_renames(kernel_rename_files().front().content);
  return kRenames;
}

bool is_of_a_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':'; }

/// Renames the longest leading part of a qualified name (whole components only) that is an old name.
std::string renamed(std::string_view name) {
  for (std::size_t end = name.size(); end != std::string_view::npos; end = name.rfind(kSeparator, end - 1)) {
    const auto found = renames().find(name.substr(0, end));
    if (found != renames().end()) return found->second + std::string{name.substr(end)};
  }
  return std::string{name};
}

}  // namespace

std::string current_kernel_name(const std::string& demangled) {
  std::string current;
  std::size_t copied = 0;
  for (std::size_t begin = demangled.find(kOurNames); begin != std::string::npos;
       begin = demangled.find(kOurNames, copied)) {
    std::size_t end = begin;
    while (end < demangled.size() && is_of_a_name(demangled[end])) ++end;
    const std::string_view name = std::string_view{demangled}.substr(begin, end - begin);
    current += demangled.substr(copied, begin - copied);
    current += begin > 0 && is_of_a_name(demangled[begin - 1]) ? std::string{name} : renamed(name);
    copied = end;
  }
  return current + demangled.substr(copied);
}

}  // namespace tbench::profile
