#include "bench/cli/option_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <system_error>

#include "tbench/core/hints/quantities.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/text.hpp"
#include "tbench/model/plugins.hpp"

namespace tbench::bench {
namespace {

/// Makes a check without a description, because the text of --help describes the values of an option.
template <class Check>
CLI::Validator validator(Check check) {
  return CLI::Validator{std::function<std::string(std::string&)>{std::move(check)}, ""};
}

/// Parses a finite number; nullopt unless all of `digits` is the number.
std::optional<double> finite_number(std::string_view digits) {
  double value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool is_whole = error == std::errc{} && stop == digits.data() + digits.size();
  return is_whole && std::isfinite(value) ? std::optional{value} : std::nullopt;
}

template <class Number>
std::string did_you_mean_number(const std::optional<Number>& number) {
  return number ? did_you_mean_text(fmt::format("{}", *number)) : std::string{};
}

/// Returns the count of Google Benchmark's `10x`, which it accepts instead of a time.
std::optional<std::int64_t> count_of_iterations(std::string_view text) {
  return text.ends_with('x') ? parse_integer(text.substr(0, text.size() - 1)) : std::nullopt;
}

}  // namespace

CLI::Validator one_of(const Choices<int>& choices) {
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) names.push_back(name);
  CLI::Validator result = validator([choices, names](std::string& text) -> std::string {
    const auto found = std::ranges::find(choices, text, &std::pair<std::string, int>::first);
    if (found == choices.end()) {
      return fmt::format("'{}' is not one of {}{}", text, fmt::join(names, ", "), did_you_mean_value(text, names));
    }
    text = fmt::format("{}", found->second);
    return {};
  });
  result.description(join(names, "|"));
  return result;
}

CLI::Validator whole_number(std::int64_t min, std::string time_flag) {
  return validator([min, time_flag = std::move(time_flag)](std::string& text) -> std::string {
    const std::optional<std::string> why = explain_count(text, min);
    const std::optional<double> time = why && !count_in(text) ? seconds_in(text) : std::nullopt;
    if (time && !time_flag.empty()) return fmt::format("'{}' is a time; did you mean '{}={}'?", text, time_flag, *time);
    return why.value_or("");
  });
}

CLI::Validator positive_gib() {
  return validator([](std::string& text) -> std::string {
    const std::optional<double> value = finite_number(text);
    if (value && *value > 0) return {};
    std::optional<double> meant = gib_in(text);
    if (meant && *meant <= 0) meant.reset();
    return fmt::format("'{}' is not a number of GiB above 0{}", text, did_you_mean_number(meant));
  });
}

CLI::Validator seconds(std::string count_flag) {
  return validator([count_flag = std::move(count_flag)](std::string& text) -> std::string {
    std::string_view digits{text};
    if (digits.ends_with('s')) digits.remove_suffix(1);
    const std::optional<double> value = finite_number(digits);
    if (!value || *value < 0) {
      const std::optional<std::int64_t> count = count_of_iterations(text);
      if (count && !count_flag.empty()) {
        return fmt::format("'{}' is a count; did you mean '{}={}'?", text, count_flag, *count);
      }
      const std::string meant = did_you_mean_number(seconds_in(text));
      return fmt::format("'{}' is not a number of seconds{}", text, meant.empty() ? ", e.g. 0.5" : meant);
    }
    text = digits;
    return {};
  });
}

CLI::Validator key_value() {
  return validator([](std::string& text) -> std::string {
    const std::size_t equals = text.find('=');
    if (equals != 0 && equals != std::string::npos) return {};
    const std::size_t colon = text.find(':');
    const bool has_colon = colon != 0 && colon != std::string::npos;
    const std::string meant = has_colon ? text.substr(0, colon) + "=" + text.substr(colon + 1) : std::string{};
    return fmt::format("'{}' is not key=value{}", text, has_colon ? did_you_mean_text(meant) : std::string{});
  });
}

CLI::Validator plugin_file() {
  return validator([](std::string& text) -> std::string {
    constexpr const char* kRemedy = "make one as examples/plugin/README.md says";
    const std::string file = model::file_of_plugin(text);
    if (text.ends_with(".py") || text.ends_with(".py:")) {
      return fmt::format("'{}' names no function: give FILE.py:FUNCTION, as in attention.py:attention", text);
    }
    if (!model::is_python_function(text) && !text.ends_with(".so") && !text.ends_with(".pt2")) {
      return fmt::format(
          "'{}' is neither a shared library, FILE.so, nor a package, FILE.pt2, nor a function, FILE.py:FUNCTION: {}",
          text, kRemedy);
    }
    if (::access(file.c_str(), F_OK) != 0) return fmt::format("there is no file '{}': {}", file, kRemedy);
    struct stat facts {};
    const bool is_file = ::stat(file.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
    if (!is_file || ::access(file.c_str(), R_OK) != 0) {
      return fmt::format("'{}' is not a file that can be read: {}", file, kRemedy);
    }
    return {};
  });
}

std::string wrong_results_name(const std::string& path) {
  if (path.ends_with(".html"))
    return fmt::format("'{}' does not name a results file; did you mean '--tb_page={}'?", path, path);
  for (const std::string_view ending : {".csv", ".md", ".tex", ".xml"}) {
    if (path.ends_with(ending)) return fmt::format("'{}': writes JSON; give a name that ends in .json", path);
  }
  return {};
}

CLI::Validator page_file() {
  return validator([](std::string& text) -> std::string {
    if (!text.ends_with(".html")) return fmt::format("'{}' does not end in .html: give FILE.html", text);
    const std::string folder = std::filesystem::path{text}.parent_path().string();
    if (::access(folder.empty() ? "." : folder.c_str(), W_OK) == 0) return {};
    return fmt::format("there is no folder '{}' that can be written: make it, or choose another", folder);
  });
}

CLI::Validator folder_with(std::string extension, std::string remedy) {
  return validator([extension = std::move(extension), remedy = std::move(remedy)](std::string& text) -> std::string {
    std::error_code error;
    std::filesystem::directory_iterator files{text, error};
    if (error) return fmt::format("'{}' is not a folder that can be read: {}", text, remedy);
    for (const std::filesystem::directory_entry& file : files) {
      if (file.path().extension() == extension) return {};
    }
    return fmt::format("'{}' holds no {} file: {}", text, extension, remedy);
  });
}

}  // namespace tbench::bench
