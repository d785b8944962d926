#include "tbench/core/model_size.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"

namespace tbench {
namespace {

// Far above any model, and small enough for every product of extents to fit 64 bits.
constexpr std::int64_t kLargestExtent = std::int64_t{1} << 20;

const std::vector<ModelSize>& table() {
  // name, d_model, d_ff, num_layers, num_heads; the course does not have the first size, and its edition of 2026 alone
  // has the last
  static const std::vector<ModelSize> sizes{
      {"tiny", 64, 256, 2, 4},         //
      {"small", 768, 3072, 12, 12},    //
      {"medium", 1024, 4096, 24, 16},  //
      {"large", 1280, 5120, 36, 20},   //
      {"xl", 1600, 6400, 48, 25},      //
      {"2.7B", 2560, 10240, 32, 32},   //
      {"10B", 4608, 12288, 50, 36},    //
  };
  return sizes;
}

/// Returns four numbers with other separators than commas, as in 4096x11008x32x32, with commas; nullopt for other text.
std::optional<std::string> with_commas(std::string text) {
  for (char& letter : text) {
    if (std::string_view{"x:;/ "}.find(letter) != std::string_view::npos) letter = ',';
  }
  const std::vector<std::string> parts = split(text, ',');
  const bool are_numbers = std::ranges::all_of(parts, [](const auto& part) { return parse_integer(part).has_value(); });
  return parts.size() == 4 && are_numbers ? std::optional{text} : std::nullopt;
}

/// Returns an example with this name. It has the numbers of the published Llama models if the name is a size of theirs.
std::string example_with_name(std::string_view name) {
  std::string_view extents = "2048,8192,24,16";
  if (name == "7B" || name == "7b") extents = "4096,11008,32,32";
  if (name == "13B" || name == "13b") extents = "5120,13824,40,40";
  if (name == "70B" || name == "70b") extents = "8192,28672,80,64";
  return fmt::format("{}:{}", name, extents);
}

bool is_built_in(std::string_view name) { return std::ranges::find(table(), name, &ModelSize::name) != table().end(); }

/// Whether the text is a name of the user, without numbers.
bool is_bare_name(std::string_view text) {
  return !text.empty() && text.find_first_of(":,=/; \t") == std::string_view::npos;
}

/// Returns what is wrong with a text that has all parts of a size in another form, or that is a built-in size, and what
/// to write; nullopt for other text.
std::optional<std::string> meant_size(const std::string& text) {
  if (is_built_in(text)) {
    return fmt::format("'{}' is a built-in size; --benchmark_filter=size:{}/ selects its cases", text, text);
  }
  if (const auto extents = with_commas(text)) return fmt::format("no name; did you mean 'mine:{}'?", *extents);
  const std::size_t end = text.find_first_of(":=,");
  if (end == std::string::npos || end == 0) return std::nullopt;
  const auto extents = with_commas(text.substr(end + 1));
  const std::string meant = fmt::format("{}:{}", text.substr(0, end), extents.value_or(""));
  if (!extents || meant == text) return std::nullopt;
  return fmt::format("not NAME:d_model,d_ff,num_layers,num_heads; did you mean '{}'?", meant);
}

}  // namespace

std::span<const ModelSize> builtin_model_sizes() { return table(); }

std::span<const ModelSize> course_model_sizes() {
  static const std::vector<ModelSize> sizes = [] {
    std::vector<ModelSize> all = table();
    std::erase_if(all, [](const ModelSize& size) { return size.name == "tiny" || size.name == "10B"; });
    return all;
  }();
  return sizes;
}

std::vector<std::string> course_size_names() {
  std::vector<std::string> names;
  for (const ModelSize& size : course_model_sizes()) names.push_back(size.name);
  return names;
}

std::int64_t parameter_count(const ModelSize& size, std::int64_t vocab_size) {
  const std::int64_t layer = 4 * size.d_model * size.d_model + 3 * size.d_model * size.d_ff + 2 * size.d_model;
  return 2 * vocab_size * size.d_model + size.num_layers * layer + size.d_model;
}

ModelSize parse_model_size(std::string_view text) {
  const auto wrong = [&](const std::string& what, const std::string& name = "mine") {
    return UsageError{
        fmt::format("--tb_size={}: {}; NAME:d_model,d_ff,layers,heads, e.g. {}", text, what, example_with_name(name))};
  };
  if (const auto meant = meant_size(std::string{text})) {
    throw UsageError{fmt::format("--tb_size={}: {}", text, *meant)};
  }
  const std::size_t colon = text.find(':');
  if (is_bare_name(text)) throw wrong("only a name", std::string{text});
  if (colon == 0 || colon == std::string_view::npos) throw wrong("no name before ':'");
  const std::string name{text.substr(0, colon)};
  if (name.find_first_of("/,= \t") != std::string::npos) throw wrong("the name may not hold '/', ',', '=' or spaces");
  if (is_built_in(name)) throw wrong(fmt::format("'{}' is a built-in size", name));
  const std::vector<std::string> parts = split(text.substr(colon + 1), ',');
  if (parts.size() != 4) throw wrong(fmt::format("{} numbers instead of 4", parts.size()), name);
  std::vector<std::int64_t> extents;
  for (const std::string& part : parts) {
    const std::optional<std::int64_t> value = parse_integer(part);
    if (!value || *value <= 0) throw wrong(fmt::format("'{}' is not a positive whole number", part));
    if (*value > kLargestExtent) throw wrong(fmt::format("'{}' is above {}", part, kLargestExtent));
    extents.push_back(*value);
  }
  ModelSize size{name, extents[0], extents[1], extents[2], extents[3]};
  if (size.d_model % size.num_heads != 0) {
    throw wrong(fmt::format("d_model {} is not a multiple of num_heads {}", size.d_model, size.num_heads));
  }
  if (size.head_dim() % 2 != 0) {
    throw wrong(fmt::format("head_dim d_model / num_heads = {} is odd, and RoPE rotates pairs", size.head_dim()));
  }
  return size;
}

}  // namespace tbench
