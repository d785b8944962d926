#include "tbench/report/html_report.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "html_page.hpp"

namespace tbench::report {

std::string html_report(std::span<const NamedResults> results) { return html_page("page.html", html_data(results)); }

}  // namespace tbench::report
