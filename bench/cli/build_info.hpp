// The build and its sources.
#pragma once

#include <string_view>

namespace tbench::bench {

/// Written by tools/cmake/BuildInfo.cmake at every build.
struct BuildInfo {
  std::string_view commit;          // "unknown" outside a checkout; "-dirty" with uncommitted changes
  std::string_view sources_digest;  // SHA-256 of the sources of transformer_bench
  std::string_view diff_digest;     // SHA-256 of the uncommitted changes to the sources; empty if none or unknown
  std::string_view build_type;
  std::string_view compile_options;
  std::string_view variant;  // TBENCH_VARIANT
  std::string_view compiler;
};

[[nodiscard]] const BuildInfo& build_info();

}  // namespace tbench::bench
