// The page's template, style, scripts and chart library, as they are in src/report/html/.
#pragma once

#include <span>
#include <string_view>

namespace tbench::report {

struct EmbeddedFile {
  std::string_view name;  // without folders
  std::string_view content;
};

/// In no particular order. The definition is written at build time (tools/cmake/EmbedFiles.cmake).
[[nodiscard]] std::span<const EmbeddedFile> html_assets();

}  // namespace tbench::report
