// Tests the sentences on dtypes under autocast: each is true, and is silent for another dtype or none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "study_notes.hpp"
#include "support/sample_results.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> notes_of(std::vector<Record> records) {
  return studies::notes_of("autocast", std::move(records));
}

Record toy(const std::string& precision, const std::string& layer_norm) {
  Record record = support::timed_record(CaseId::parse("Autocast/subject:toy/precision:" + precision), Seconds{1 * kMs});
  if (!layer_norm.empty()) record.labels["layer norm"] = layer_norm;
  return record;
}

TEST(AutocastStudy, SayWhyLayerNormStaysInFloat32) {
  EXPECT_THAT(notes_of({toy("fp16", "fp32"), toy("bf16", "fp32")}),
              Contains(HasSubstr(
                  "the toy model's layer norm ran in fp32 with fp16 and in fp32 with bf16. Its mean and variance")));
  EXPECT_THAT(notes_of({toy("fp16", "fp32"), toy("bf16", "bf16")}),
              Contains("Under autocast, the toy model's layer norm ran in fp32 with fp16 and in bf16 with bf16."));
  EXPECT_THAT(notes_of({toy("fp16", "fp32"), toy("bf16", "")}), Not(Contains(HasSubstr("layer norm ran"))));
}

/// Returns the transformer under autocast with every product in `products` and everything else in float32.
Record transformer(const std::string& precision, const std::string& products) {
  Record record =
      support::timed_record(CaseId::parse("Autocast/subject:transformer/precision:" + precision), Seconds{1 * kMs});
  for (const char* const name :
       {"q projection", "k projection", "v projection", "scores", "context", "output projection", "swiglu gate",
        "swiglu up", "swiglu down", "logits", "backward products"}) {
    record.labels[name] = products;
  }
  for (const char* const name :
       {"softmax exp", "softmax sum", "softmax", "loss exp", "loss", "parameters", "gradients"}) {
    record.labels[name] = "fp32";
  }
  return record;
}

TEST(AutocastStudy, SayWhyAutocastKeepsFloat32AndWhyItDoesNot) {
  const auto products = HasSubstr("matrix products ran in bf16, forward and backward. Tensor Cores");
  const auto sums = HasSubstr("With bf16, the exponential, sum and quotient of softmax and the loss ran in float32:");
  const auto weights = HasSubstr("With bf16, parameters stayed in float32:");
  const Record record = transformer("bf16", "bf16");
  EXPECT_THAT(notes_of({record}), AllOf(Contains(products), Contains(sums), Contains(weights)));
  EXPECT_THAT(notes_of({record}), Not(Contains(HasSubstr("With fp16"))));
  EXPECT_THAT(notes_of({transformer("bf16", "fp32")}), Not(Contains(products)));
  for (const auto& [changed, sentence] : {std::pair{"backward products", testing::Matcher<std::string>{products}},
                                          {"softmax exp", testing::Matcher<std::string>{sums}},
                                          {"gradients", testing::Matcher<std::string>{weights}}}) {
    Record other = record;
    other.labels[changed] = "bf16+fp32";
    EXPECT_THAT(notes_of({other}), Not(Contains(sentence))) << changed;
    other.labels.erase(changed);
    EXPECT_THAT(notes_of({other}), Not(Contains(sentence))) << changed;
  }
}

}  // namespace
}  // namespace tbench::studies
