// The pages' frame and parts, style, scripts and chart library, as they are in src/report/html/.
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

/// The content of one of them.
/// @throws  std::logic_error  for a name that none has
[[nodiscard]] std::string_view html_asset(std::string_view name);

}  // namespace tbench::report
