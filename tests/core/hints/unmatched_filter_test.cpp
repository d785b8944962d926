#include "tbench/core/hints/unmatched_filter.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace tbench {
namespace {

TEST(MeantFilter, IsTheFirstRewritingThatMatches) {
  const std::vector<std::string> names{"Model/size:small/pass:forward/precision:bf16/impl:sdpa",
                                       "Attention/seq_len:512/impl:flash"};
  const std::vector<std::pair<std::string, std::optional<std::string>>> rows{
      {"'impl:flash'", "impl:flash"}, {"impl=flash", "impl:flash"},
      {"impl:Flash", "impl:flash"},   {"model/.*sdpa", "Model/.*sdpa"},
      {"pass:fwd", "pass:forward"},   {"precision:bfloat16", "precision:bf16"},
      {"*small*", "small"},           {"impl:naive", std::nullopt},
      {"size:7B", std::nullopt},
  };
  for (const auto& [filter, meant] : rows) EXPECT_EQ(meant_filter(filter, names), meant) << filter;
}

}  // namespace
}  // namespace tbench
