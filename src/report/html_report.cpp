// Puts the page together: the template's {{name}} become the file of that name, or the data. What is put in is not
// looked at again, so no text of a result can name a file.
#include "tbench/report/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "embedded_file.hpp"

namespace tbench::report {
namespace {

/// JSON that an HTML parser passes over whatever is in it: `<`, `>` and `&`, which JSON has only inside of texts, as
/// escapes.
std::string escape_json(std::string_view json) {
  std::string escaped;
  escaped.reserve(json.size());
  for (const char letter : json) {
    if (letter == '<' || letter == '>' || letter == '&') {
      escaped += fmt::format("\\u{:04x}", static_cast<unsigned>(letter));
    } else {
      escaped += letter;
    }
  }
  return escaped;
}

}  // namespace

std::string_view html_asset(std::string_view name) {
  const auto files = html_assets();
  const auto found = std::ranges::find(files, name, &EmbeddedFile::name);
  if (found == files.end()) throw std::logic_error{fmt::format("there is no embedded file '{}'", name)};
  return found->content;
}

std::string html_report(std::span<const NamedResults> results) {
  constexpr std::string_view kOpen = "{{";
  constexpr std::string_view kClose = "}}";
  std::string_view rest = html_asset("page.html");
  std::string page;
  for (std::size_t begin = rest.find(kOpen); begin != std::string_view::npos; begin = rest.find(kOpen)) {
    const std::size_t end = rest.find(kClose, begin);
    if (end == std::string_view::npos) throw std::logic_error{"page.html: '{{' without '}}'"};
    page += rest.substr(0, begin);
    const std::string_view name = rest.substr(begin + kOpen.size(), end - begin - kOpen.size());
    if (name == "data") {
      page += escape_json(compact(html_data(results)));
    } else {
      page += html_asset(name);
    }
    rest.remove_prefix(end + kClose.size());
  }
  return page += rest;
}

}  // namespace tbench::report
