// Generated parts of a Markdown file, between `<!-- tbench:NAME -->` and `<!-- /tbench:NAME -->`.
#pragma once

#include <string>
#include <string_view>

namespace tbench::report {

/// `document` with what stands between the markers of `name` replaced by `content`. The markers stay.
/// @throws  UsageError  naming the marker that is missing, there twice, or in the wrong order
[[nodiscard]] std::string replace_section(std::string_view document, std::string_view name, std::string_view content);

}  // namespace tbench::report
