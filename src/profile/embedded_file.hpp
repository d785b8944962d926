// The rules that the program was built with: kernel_rules.txt.
#pragma once

#include <span>
#include <string_view>

namespace tbench::profile {

struct EmbeddedFile {
  std::string_view name;  // without folders
  std::string_view content;
};

/// One file. The definition is written at build time (tools/cmake/EmbedFiles.cmake).
[[nodiscard]] std::span<const EmbeddedFile> kernel_rule_files();

}  // namespace tbench::profile
