// The spreads that the program was built with: known_spreads.json.
#pragma once

#include <span>
#include <string_view>

namespace tbench::compare {

struct EmbeddedFile {
  std::string_view name;  // without folders
  std::string_view content;
};

/// Returns the embedded files. The definition is written at build time (tools/cmake/EmbedFiles.cmake).
[[nodiscard]] std::span<const EmbeddedFile> spread_files();

}  // namespace tbench::compare
