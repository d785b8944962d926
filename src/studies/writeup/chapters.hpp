// The built-in write-up: its chapters, the studies of each, and the cases of each study.
#pragma once

#include <string_view>
#include <vector>

#include "tbench/studies/writeup.hpp"

namespace tbench::studies {

/// The name and the title of the built-in write-up.
inline constexpr std::string_view kWriteup = "writeup";
inline constexpr std::string_view kWriteupTitle =
    "A transformer's time, memory and kernels, with the answers to the course";

/// Returns the chapters. Every study has a part of the cases of the study of the same name, and one protocol per family
/// of cases.
[[nodiscard]] std::vector<Chapter> writeup_chapters();

}  // namespace tbench::studies
