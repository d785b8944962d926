#include "html/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tbench/render/markup.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::html {
namespace {

/// Returns bytes in base64 (RFC 4648).
std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::size_t kGroup = 3;
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += kGroup) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < kGroup; ++k) {
      group = group << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k <= kGroup; ++k) {
      const bool is_padding = i + k > bytes.size();
      text += is_padding ? '=' : kLetters[group >> (18U - 6U * k) & 63U];
    }
  }
  return text;
}

/// Returns the data with its records as columns: a list per key, with null where a record lacks the key. Lists of like
/// values take a fifth less when packed.
results::Json with_columns(results::Json data) {
  const results::Json records = std::move(data.at("records"));
  results::Json columns = results::Json::object();
  for (std::size_t i = 0; i < records.size(); ++i) {
    for (const auto& [key, value] : records[i].items()) {
      results::Json& column = columns[key];
      while (column.size() < i) column.push_back(nullptr);
      column.push_back(value);
    }
  }
  for (results::Json& column : columns) {
    while (column.size() < records.size()) column.push_back(nullptr);
  }
  data["records"] = std::move(columns);
  return data;
}

/// Returns the text for `{{name}}` of the frame.
std::string filled_in(std::string_view name, const HtmlPage& page, const results::Json& data) {
  if (name == "data") return packed(results::compact(with_columns(data)));
  if (name == "title") return std::string{page.title};
  if (name == "heading") return std::string{page.heading};
  if (name == "filter_label") return std::string{page.filter_label};
  if (name == "figures") return packed(page.figures);
  if (name == "main") return std::string{html_asset(page.main)};
  if (name != "scripts") return std::string{html_asset(name)};
  std::string scripts;
  for (const std::string_view script : page.scripts) {
    scripts += html_asset(script);
  }
  return scripts;
}

}  // namespace

std::string_view html_asset(std::string_view name) {
  const auto files = html_assets();
  const auto found = std::ranges::find(files, name, &EmbeddedFile::name);
  if (found == files.end()) throw std::logic_error{fmt::format("there is no embedded file '{}'", name)};
  return found->content;
}

std::string html_page(const HtmlPage& page, const results::Json& data) {
  constexpr std::string_view kOpen = "{{";
  constexpr std::string_view kClose = "}}";
  std::string_view rest = html_asset("frame.html");
  std::string text;
  for (std::size_t begin = rest.find(kOpen); begin != std::string_view::npos; begin = rest.find(kOpen)) {
    const std::size_t end = rest.find(kClose, begin);
    if (end == std::string_view::npos) throw std::logic_error{"frame.html: '{{' without '}}'"};
    text += rest.substr(0, begin);
    text += filled_in(rest.substr(begin + kOpen.size(), end - begin - kOpen.size()), page, data);
    rest.remove_prefix(end + kClose.size());
  }
  return text += rest;
}

std::string packed(std::string_view text) { return text.empty() ? "" : base64(results::pack(text)); }

double rounded(double value, int digits) { return std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr); }

results::Json page_number(double value) {
  constexpr double kExactIntegers = 9007199254740992.0;  // 2^53
  const bool whole = value > -kExactIntegers && value < kExactIntegers &&
                     value == static_cast<double>(static_cast<std::int64_t>(value));
  return whole ? results::Json(static_cast<std::int64_t>(value)) : results::Json(rounded(value, 6));
}

std::size_t PageFamilies::index_of(const CaseId& id) {
  const auto found = std::ranges::find(families_, id.family(), &Family::name);
  const auto index = static_cast<std::size_t>(found - families_.begin());
  if (found == families_.end()) families_.push_back({id.family(), {}});
  for (const auto& [key, value] : id.parameters()) {
    std::vector<std::string>& keys = families_[index].keys;
    if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  }
  return index;
}

results::Json PageFamilies::values(const CaseId& id) const {
  const auto family = std::ranges::find(families_, id.family(), &Family::name);
  if (family == families_.end()) throw std::logic_error{fmt::format("the page has no family '{}'", id.family())};
  results::Json values = results::Json::array();
  for (const std::string& key : family->keys) {
    const std::string* const value = id.find(key);
    values.push_back(value == nullptr ? results::Json(nullptr) : results::Json(*value));
  }
  return values;
}

results::Json PageFamilies::json() const {
  results::Json json = results::Json::array();
  for (const Family& family : families_) json.push_back({{"name", family.name}, {"keys", family.keys}});
  return json;
}

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
