#include "studies/engine/case_parameters.hpp"

#include <gtest/gtest.h>

namespace tbench::studies {
namespace {

const CaseId kCase{"Attention", {{"heads", "1"}, {"seq_len", "64"}, {"impl", "flash"}}};

TEST(CaseParameters, LeaveOutKeysAndKeepTheOrder) {
  EXPECT_EQ(without(kCase, {"impl"}).name(), "Attention/heads:1/seq_len:64");
  EXPECT_EQ(without(kCase, {"seq_len", "heads", "no_key"}).name(), "Attention/impl:flash");
}

TEST(CaseParameters, HaveNoValueOfAnUnknownKey) {
  EXPECT_EQ(value_or_empty(kCase, "seq_len"), "64");
  EXPECT_EQ(value_or_empty(kCase, "ctx"), "");
}

TEST(CaseParameters, AreNamedWithTheirKeys) {
  EXPECT_EQ(keys_and_values(kCase), "heads:1 seq_len:64 impl:flash");
  EXPECT_EQ(keys_and_values({"Attention", {}}), "");
}

TEST(CaseParameters, ReplaceTheValueOfAKeyThatTheCaseHas) {
  const CaseId id = CaseId::parse("Model/size:small/pass:train_step");
  EXPECT_EQ(with_value(id, "pass", "forward").name(), "Model/size:small/pass:forward");
  EXPECT_EQ(with_value(id, "ctx", "512"), id);
}

}  // namespace
}  // namespace tbench::studies
