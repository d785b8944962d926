#include "tbench/report/html_report.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "html_page.hpp"

namespace tbench::report {

std::string html_report(std::span<const NamedResults> results) {
  const HtmlPage page{
      .title = "transformer_bench report",
      .heading = "transformer_bench",
      .filter_label = "Filter plots and table",
      .main = "report.html",
      .scripts = {"plotting.js", "operations.js", "comparison.js", "plots.js", "cases.js", "filters.js", "main.js"}};
  return html_page(page, html_data(results));
}

}  // namespace tbench::report
