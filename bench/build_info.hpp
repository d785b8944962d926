// What was built, from what: written by tools/cmake/BuildInfo.cmake at every build.
#pragma once

#include <string_view>

namespace tbench::bench {

struct BuildInfo {
  std::string_view commit;          // "unknown" outside a checkout; "-dirty" with uncommitted changes
  std::string_view sources_digest;  // SHA-256 over the sources
  std::string_view build_type;
  std::string_view compiler;
};

[[nodiscard]] const BuildInfo& build_info();

}  // namespace tbench::bench
