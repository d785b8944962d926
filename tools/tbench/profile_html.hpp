// What the page of a profile shows, from the profile.
#pragma once

#include <optional>
#include <string>

#include "tbench/html/profile_page.hpp"
#include "tbench/profile/memory_timeline.hpp"
#include "tbench/profile/profile_page.hpp"

namespace tbench::tool {

/// All times and counts are per step.
[[nodiscard]] html::ProfilePage profile_html_page(std::string title, const profile::Profile& profile,
                                                  const profile::TableOptions& options,
                                                  const std::optional<profile::MemoryTimeline>& memory);

}  // namespace tbench::tool
