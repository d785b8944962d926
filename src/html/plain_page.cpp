#include "html/plain_page.hpp"

#include <fmt/format.h>

#include "html/page.hpp"
#include "tbench/render/markup.hpp"

namespace tbench::html {

std::string plain_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<header><h1>transformer_bench</h1></header>\n<main>\n"
      "<h2>{0}</h2>\n{2}</main>\n</body>\n</html>\n",
      render::escape_markup(title), html_asset("page.css"), body);
}

std::string note_html(std::string_view text) {
  return fmt::format("<p class=\"note\">{}</p>\n", render::escape_markup(text));
}

}  // namespace tbench::html
