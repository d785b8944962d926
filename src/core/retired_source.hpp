// bench/retired.txt as the build embeds it.
#pragma once

#include <span>
#include <string_view>

namespace tbench {

struct EmbeddedFile {
  std::string_view name;
  std::string_view content;
};

/// Holds one file, bench/retired.txt.
[[nodiscard]] std::span<const EmbeddedFile> retired_files();

}  // namespace tbench
