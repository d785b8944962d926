#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

#include "tbench/core/error.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/core/text.hpp"

namespace tbench {
namespace {

// Far above any model, and small enough for every product of extents to fit 64 bits.
constexpr std::int64_t kLargestExtent = std::int64_t{1} << 20;
constexpr double kLargestTheta = 1e12;
constexpr std::size_t kExtents = 4;
constexpr const char* kForm = "NAME:d_model,d_ff,layers,heads";
constexpr const char* kKeys = "kv_heads=, head_dim=, vocab=, theta=, tied, qk_norm";

/// Returns four numbers with other separators than commas, as in 4096x11008x32x32, with commas; nullopt for other text.
std::optional<std::string> with_commas(std::string text) {
  for (char& letter : text) {
    if (std::string_view{"x:;/ "}.find(letter) != std::string_view::npos) letter = ',';
  }
  const std::vector<std::string> parts = split(text, ',');
  const bool are_numbers = std::ranges::all_of(parts, [](const auto& part) { return parse_integer(part).has_value(); });
  return parts.size() == kExtents && are_numbers ? std::optional{text} : std::nullopt;
}

/// Returns an example with this name. It has the numbers of the published Llama models if the name is a size of theirs.
std::string example_with_name(std::string_view name) {
  std::string_view extents = "2048,8192,24,16";
  if (name == "7B" || name == "7b") extents = "4096,11008,32,32";
  if (name == "13B" || name == "13b") extents = "5120,13824,40,40";
  if (name == "70B" || name == "70b") extents = "8192,28672,80,64,kv_heads=8";
  return fmt::format("{}:{}", name, extents);
}

bool is_built_in(std::string_view name) {
  const auto sizes = builtin_model_sizes();
  return std::ranges::find(sizes, name, &ModelSize::name) != sizes.end();
}

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

/// Parses one size, and says what is wrong with its text.
class SizeParser {
 public:
  explicit SizeParser(std::string_view text) : text_{text} {}

  ModelSize parse() {
    if (const auto meant = meant_size(std::string{text_})) {
      throw UsageError{fmt::format("--tb_size={}: {}", text_, *meant)};
    }
    parse_name();
    const std::vector<std::string> parts = split(text_.substr(size_.name.size() + 1), ',');
    const auto extra = std::ranges::find_if(parts, [](const std::string& part) { return is_option(part); });
    const auto count = static_cast<std::size_t>(extra - parts.begin());
    if (count != kExtents) throw wrong(fmt::format("{} numbers instead of 4", count), size_.name);
    const std::array extents{&size_.d_model, &size_.d_ff, &size_.num_layers, &size_.num_heads};
    for (std::size_t i = 0; i < kExtents; ++i) *extents.at(i) = extent_of(parts[i]);
    for (auto part = extra; part != parts.end(); ++part) set_option(*part);
    check();
    return std::move(size_);
  }

 private:
  /// Whether a part is a key with a value or a flag.
  static bool is_option(const std::string& part) {
    return part.find('=') != std::string::npos || part == "tied" || part == "qk_norm";
  }

  [[nodiscard]] UsageError wrong(const std::string& what, const std::string& name = "mine") const {
    return UsageError{fmt::format("--tb_size={}: {}; {}, e.g. {}", text_, what, kForm, example_with_name(name))};
  }

  void parse_name() {
    const std::size_t colon = text_.find(':');
    if (is_bare_name(text_)) throw wrong("only a name", std::string{text_});
    if (colon == 0 || colon == std::string_view::npos) throw wrong("no name before ':'");
    size_.name = text_.substr(0, colon);
    if (size_.name.find_first_of("/,= \t") != std::string::npos) {
      throw wrong("the name may not hold '/', ',', '=' or spaces");
    }
    if (is_built_in(size_.name)) throw wrong(fmt::format("'{}' is a built-in size", size_.name));
  }

  [[nodiscard]] std::int64_t extent_of(const std::string& part) const {
    const std::optional<std::int64_t> value = parse_integer(part);
    if (!value || *value <= 0) throw wrong(fmt::format("'{}' is not a positive whole number", part));
    if (*value > kLargestExtent) throw wrong(fmt::format("'{}' is above {}", part, kLargestExtent));
    return *value;
  }

  [[nodiscard]] double theta_of(const std::string& part) const {
    char* end = nullptr;
    const double value = std::strtod(part.c_str(), &end);
    if (part.empty() || *end != '\0' || !(value > 1) || !(value <= kLargestTheta)) {
      throw wrong(fmt::format("theta '{}' is not a number from 1 to {:g}", part, kLargestTheta));
    }
    return value;
  }

  void set_option(const std::string& part) {
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string key = part.substr(0, equals);
    const std::string value = part.substr(std::min(equals + 1, part.size()));
    if (std::ranges::find(given_, key) != given_.end()) throw wrong(fmt::format("'{}' is given twice", key));
    given_.push_back(key);
    if (key == "kv_heads") {
      size_.own_kv_heads = extent_of(value);
    } else if (key == "head_dim") {
      size_.own_head_dim = extent_of(value);
    } else if (key == "vocab") {
      size_.vocab_size = extent_of(value);
    } else if (key == "theta") {
      size_.rope_theta = theta_of(value);
    } else if (part == "tied") {
      size_.tied = true;
    } else if (part == "qk_norm") {
      size_.qk_norm = true;
    } else {
      throw wrong(fmt::format("'{}' is none of {}", part, kKeys));
    }
  }

  void check() {
    if (size_.own_head_dim == 0 && size_.d_model % size_.num_heads != 0) {
      throw wrong(fmt::format("d_model {} is not a multiple of num_heads {}", size_.d_model, size_.num_heads));
    }
    if (size_.head_dim() % 2 != 0) {
      const char* const which = size_.own_head_dim == 0 ? "head_dim d_model / num_heads =" : "head_dim";
      throw wrong(fmt::format("{} {} is odd, and RoPE rotates pairs", which, size_.head_dim()));
    }
    if (size_.num_heads % size_.kv_heads() != 0) {
      throw wrong(fmt::format("kv_heads {} do not divide num_heads {}", size_.kv_heads(), size_.num_heads));
    }
    // Equal sizes compare equal, whichever text describes them.
    if (size_.own_kv_heads == size_.num_heads) size_.own_kv_heads = 0;
    if (size_.own_head_dim * size_.num_heads == size_.d_model) size_.own_head_dim = 0;
  }

  std::string_view text_;
  ModelSize size_;
  std::vector<std::string> given_;
};

}  // namespace

ModelSize parse_model_size(std::string_view text) { return SizeParser{text}.parse(); }

std::string extents_text(const ModelSize& size) {
  std::string text = fmt::format("{},{},{},{}", size.d_model, size.d_ff, size.num_layers, size.num_heads);
  if (size.own_kv_heads > 0) text += fmt::format(",kv_heads={}", size.own_kv_heads);
  if (size.own_head_dim > 0) text += fmt::format(",head_dim={}", size.own_head_dim);
  if (size.vocab_size != kVocabSize) text += fmt::format(",vocab={}", size.vocab_size);
  if (size.rope_theta != kRopeTheta) text += fmt::format(",theta={}", size.rope_theta);
  if (size.tied) text += ",tied";
  if (size.qk_norm) text += ",qk_norm";
  return text;
}

}  // namespace tbench
