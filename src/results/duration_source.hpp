// The tables of durations that the program was built with: bench/durations/*.csv.
#pragma once

#include <span>
#include <string_view>

namespace tbench::results {

struct EmbeddedFile {
  std::string_view name;  // without folders
  std::string_view content;
};

/// Returns the embedded tables. The build generates the definition (tools/cmake/EmbedFiles.cmake).
[[nodiscard]] std::span<const EmbeddedFile> duration_files();

}  // namespace tbench::results
