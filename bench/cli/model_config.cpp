#include "bench/cli/model_config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "tbench/core/error.hpp"

namespace tbench::bench {
namespace {

constexpr std::array<std::string_view, 3> kModelTypes{"llama", "mistral", "qwen3"};

/// A published config.json.
class Config {
 public:
  Config(const std::string& option, std::string path) : option_{option}, path_{std::move(path)} {
    std::ifstream file{path_};
    if (!file) throw wrong("no such file, or it cannot be read");
    json_ = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
    if (!json_.is_object()) throw wrong("not a JSON object; give the config.json of a published model");
  }

  [[nodiscard]] UsageError wrong(const std::string& what) const {
    return UsageError{fmt::format("--tb_size={}: '{}': {}", option_, path_, what)};
  }

  /// Returns a whole number above 0, or nullopt if the key is absent or null.
  [[nodiscard]] std::optional<std::int64_t> find_count(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end() || found->is_null()) return std::nullopt;
    if (!found->is_number_integer() || *found <= 0) {
      throw wrong(fmt::format("{} is {}, not a whole number above 0", key, found->dump()));
    }
    return found->get<std::int64_t>();
  }

  [[nodiscard]] std::int64_t count(const char* key) const {
    if (const auto found = find_count(key)) return *found;
    throw wrong(fmt::format("no {}", key));
  }

  [[nodiscard]] bool flag(const char* key, bool absent = false) const {
    const auto found = json_.find(key);
    return found == json_.end() || !found->is_boolean() ? absent : found->get<bool>();
  }

  /// Returns a number of the file or of its `rope_parameters`, or `absent`.
  [[nodiscard]] double number(const char* key, double absent) const {
    const auto rope = json_.find("rope_parameters");
    const bool is_in_rope = !json_.contains(key) && rope != json_.end() && rope->is_object();
    const nlohmann::json& object = is_in_rope ? *rope : json_;
    const auto found = object.find(key);
    if (found == object.end()) return absent;
    if (!found->is_number()) throw wrong(fmt::format("{} is {}, not a number", key, found->dump()));
    return found->get<double>();
  }

  [[nodiscard]] std::string model_type() const { return json_.value("model_type", std::string{}); }

 private:
  const std::string& option_;
  std::string path_;
  nlohmann::json json_;
};

/// Refuses a model that has more than this project's layers.
void check(const Config& config) {
  const std::string type = config.model_type();
  if (std::ranges::find(kModelTypes, type) == kModelTypes.end()) {
    throw config.wrong(fmt::format("model_type '{}' is none of {}", type, fmt::join(kModelTypes, ", ")));
  }
  for (const char* const bias : {"attention_bias", "mlp_bias"}) {
    if (config.flag(bias)) throw config.wrong(fmt::format("{}: no layer here has a bias", bias));
  }
  for (const char* const experts : {"num_experts", "num_local_experts"}) {
    if (config.find_count(experts)) throw config.wrong(fmt::format("{}: no layer here has experts", experts));
  }
  if (config.number("partial_rotary_factor", 1) != 1) {
    throw config.wrong("partial_rotary_factor is not 1: RoPE here rotates whole heads");
  }
  const auto window = config.flag("use_sliding_window", true) ? config.find_count("sliding_window") : std::nullopt;
  if (window) throw config.wrong(fmt::format("sliding_window {}: attention here sees all earlier tokens", *window));
}

std::string size_text(const std::string& name, const Config& config) {
  std::string text = fmt::format("{}:{},{},{},{}", name, config.count("hidden_size"), config.count("intermediate_size"),
                                 config.count("num_hidden_layers"), config.count("num_attention_heads"));
  if (const auto heads = config.find_count("num_key_value_heads")) text += fmt::format(",kv_heads={}", *heads);
  if (const auto head_dim = config.find_count("head_dim")) text += fmt::format(",head_dim={}", *head_dim);
  text += fmt::format(",vocab={},theta={}", config.count("vocab_size"), config.number("rope_theta", kRopeTheta));
  if (config.flag("tie_word_embeddings")) text += ",tied";
  if (config.model_type() == "qwen3") text += ",qk_norm";
  return text;
}

}  // namespace

ModelSize parse_size_option(const std::string& text) {
  const std::size_t at = text.find(":@");
  if (at == std::string::npos || at == 0) return parse_model_size(text);
  const Config config{text, text.substr(at + 2)};
  check(config);
  return parse_model_size(size_text(text.substr(0, at), config));
}

}  // namespace tbench::bench
