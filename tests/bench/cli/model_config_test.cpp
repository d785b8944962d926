// Tests sizes that come from the config.json of a published model.
#include "bench/cli/model_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tbench/core/error.hpp"

namespace tbench::bench {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// The numbers of Llama 3.1 8B.
json llama() {
  return {{"model_type", "llama"},
          {"hidden_size", 4096},
          {"intermediate_size", 14336},
          {"num_hidden_layers", 32},
          {"num_attention_heads", 32},
          {"num_key_value_heads", 8},
          {"vocab_size", 128256},
          {"rope_theta", 500000.0},
          {"rope_scaling", {{"factor", 8.0}, {"rope_type", "llama3"}}},
          {"tie_word_embeddings", false},
          {"attention_bias", false}};
}

std::string written(const std::string& text) {
  const std::string path = testing::TempDir() + "config.json";
  std::ofstream{path} << text;
  return path;
}

ModelSize size_of(const json& config) { return parse_size_option("mine:@" + written(config.dump())); }

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(parse_size_option("mine:@" + written(text)));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

std::string error_with(const char* key, const json& value) {
  json config = llama();
  config[key] = value;
  return error_of(config.dump());
}

TEST(ParseSizeOption, ReadsAPublishedConfig) {
  EXPECT_EQ(size_of(llama()), parse_model_size("mine:4096,14336,32,32,kv_heads=8,vocab=128256,theta=500000"));
}

TEST(ParseSizeOption, Qwen3HasNormsOfQAndK) {
  json config = llama();
  config.update(
      {{"model_type", "qwen3"}, {"head_dim", 256}, {"tie_word_embeddings", true}, {"sliding_window", nullptr}});
  const ModelSize size = size_of(config);
  EXPECT_TRUE(size.qk_norm);
  EXPECT_TRUE(size.tied);
  EXPECT_EQ(size.head_dim(), 256);
}

TEST(ParseSizeOption, TakesTheThetaOfNewerConfigs) {
  json config = llama();
  config.erase("rope_theta");
  EXPECT_EQ(size_of(config).rope_theta, kRopeTheta);
  config["rope_parameters"] = {{"rope_theta", 1e6}};
  EXPECT_EQ(size_of(config).rope_theta, 1e6);
}

TEST(ParseSizeOption, TakesNumbersToo) {
  EXPECT_EQ(parse_size_option("mine:64,256,2,4"), parse_model_size("mine:64,256,2,4"));
}

TEST(ParseSizeOption, RefusesWhatNoLayerHereHas) {
  EXPECT_THAT(error_with("model_type", "mixtral"), HasSubstr("model_type 'mixtral' is none of llama, mistral, qwen3"));
  EXPECT_THAT(error_with("attention_bias", true), HasSubstr("attention_bias: no layer here has a bias"));
  EXPECT_THAT(error_with("num_local_experts", 8), HasSubstr("num_local_experts: no layer here has experts"));
  EXPECT_THAT(error_with("partial_rotary_factor", 0.5), HasSubstr("RoPE here rotates whole heads"));
  EXPECT_THAT(error_with("sliding_window", 4096), HasSubstr("sliding_window 4096: attention here sees all"));
}

TEST(ParseSizeOption, NamesTheFileAndTheKey) {
  EXPECT_THAT(error_with("hidden_size", nullptr), HasSubstr("config.json': no hidden_size"));
  EXPECT_THAT(error_with("hidden_size", "wide"), HasSubstr("hidden_size is \"wide\", not a whole number above 0"));
  EXPECT_THAT(error_with("num_key_value_heads", 5), HasSubstr("kv_heads 5 do not divide num_heads 32"));
  EXPECT_THAT(error_of("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(error_of("{"), HasSubstr("not a JSON object"));
  try {
    static_cast<void>(parse_size_option("mine:@/no/such.json"));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "--tb_size=mine:@/no/such.json: '/no/such.json': no such file, or it cannot be read");
  }
}

}  // namespace
}  // namespace tbench::bench
