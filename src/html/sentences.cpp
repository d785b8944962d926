#include "html/sentences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/render/terminal.hpp"

namespace tbench::html {
namespace {

constexpr std::size_t kNamed = 3;

}  // namespace

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", render::format_thousands(static_cast<double>(count)), noun, count == 1 ? "" : "s");
}

std::string shortened(std::string_view text) {
  constexpr std::size_t kWidth = 120;
  return render::fit(render::one_line(text), kWidth);
}

std::string sentence(std::string text) {
  if (!text.empty()) text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text + ".";
}

std::string listed(std::span<const std::string> entries, std::string_view separator) {
  const std::size_t named = std::min(kNamed, entries.size());
  std::string text = join(entries.first(named), separator);
  if (entries.size() > named) text += fmt::format("{}{} more", separator, entries.size() - named);
  return text;
}

}  // namespace tbench::html
