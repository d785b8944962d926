// The measurements that the kernels were built with: the CSV files of this folder.
#pragma once

#include <span>
#include <string_view>

namespace tbench::kernels {

struct EmbeddedFile {
  std::string_view name;  // without folders
  std::string_view content;
};

/// The definition is written at build time (tools/cmake/EmbedFiles.cmake).
[[nodiscard]] std::span<const EmbeddedFile> heuristics_csv_files();

}  // namespace tbench::kernels
