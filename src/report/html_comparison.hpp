// The comparisons of a page with several files, as its scripts read them. Private to the report layer.
#pragma once

#include <span>

#include "html_page.hpp"
#include "tbench/report/html_report.hpp"

namespace tbench::report {

/// What `tbench diff` says of every file but the first, against the first: one object a file, its layout in
/// html_report.hpp.
/// @param families  has the families of all files
[[nodiscard]] Json html_comparisons(std::span<const NamedResults> results, PageFamilies& families);

}  // namespace tbench::report
