// The built-in write-ups: their chapters, the studies of each, and the cases of each study.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/studies/writeup.hpp"

namespace tbench::studies {

/// A write-up that both programs know by its name.
struct BuiltInWriteup {
  std::string_view name;
  std::string_view title;
  /// Returns the chapters. Every study has one protocol per family of cases.
  std::vector<Chapter> (*chapters)();
};

/// Returns the write-ups of the course's editions: `writeup` of 2025, and `writeup_2026`.
[[nodiscard]] std::span<const BuiltInWriteup> built_in_writeups();

/// Returns sentences about what the write-ups of others show and these cannot.
[[nodiscard]] std::vector<std::string> not_shown();

}  // namespace tbench::studies
