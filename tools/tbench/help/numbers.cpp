#include "numbers.hpp"

#include <fmt/format.h>

#include "outputs.hpp"
#include "tbench/core/hints/quantities.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/help.hpp"

namespace tbench::tool {
namespace {

/// Explains `--csv=a.csv`: the parser calls the value no number.
std::optional<std::string> explain_unwanted_value(const std::string& text) {
  constexpr std::string_view kBegin = "Could not convert: ";
  const std::size_t equals = text.find(" = ");
  if (!text.starts_with(kBegin) || equals == std::string::npos) return std::nullopt;
  const std::string flag = text.substr(kBegin.size(), equals - kBegin.size());
  const std::string value = text.substr(equals + 3);
  const std::string hint = ending_of(value).empty() ? fmt::format("; leave out '={}'", value)
                                                    : did_you_mean_text(fmt::format("{} > {}", flag, value));
  return fmt::format("{} takes no value{}", flag, hint);
}

}  // namespace

CLI::Validator count_of(std::int64_t min, std::int64_t max) {
  return {[min, max](std::string& text) {
            if (const auto why = explain_count(text, min)) return *why;
            return parse_integer(text) > max ? fmt::format("'{}' is above {}", text, max) : std::string{};
          },
          ""};
}

CLI::Validator number_of(const char* unit, std::optional<double> (*meant)(std::string_view), bool (*fits)(double),
                         const char* otherwise) {
  return {[unit, meant, fits, otherwise](std::string& text) {
            double value{};
            if (CLI::detail::lexical_cast(text, value)) {
              return fits(value) ? std::string{} : fmt::format("{} {}", text, otherwise);
            }
            const std::optional<double> number = meant(text);
            if (!number || !fits(*number)) return fmt::format("'{}' {}", text, otherwise);
            return fmt::format("'{}' is not {}{}", text, unit, did_you_mean_text(fmt::format("{:g}", *number)));
          },
          ""};
}

std::string explain_value(const CLI::ParseError& error) {
  return explain_unwanted_value(error.what()).value_or(render::parse_error_text(error));
}

}  // namespace tbench::tool
