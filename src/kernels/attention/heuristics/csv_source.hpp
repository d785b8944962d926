// Contents of this folder's CSV files, embedded in the build.
#pragma once

#include <span>
#include <string_view>

namespace tbench::kernels {

struct EmbeddedFile {
  std::string_view name;  // file name without folders
  std::string_view content;
};

/// Returns the files. The build generates the definition (tools/cmake/EmbedFiles.cmake).
[[nodiscard]] std::span<const EmbeddedFile> heuristics_csv_files();

}  // namespace tbench::kernels
