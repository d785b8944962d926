// The dtypes of operations under autocast.
#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "studies/engine/sentences.hpp"
#include "studies/engine/studies.hpp"

namespace tbench::studies::autocast {
namespace {

/// Returns the columns of a subject: its operations, and the columns that every subject has.
std::vector<StudyColumn> quantities(std::initializer_list<const char*> operations) {
  std::vector<StudyColumn> columns{number_column("forward and backward ms", "median_ms"),
                                   finding_column("parameters", "parameters")};
  for (const char* operation : operations) columns.push_back(finding_column(operation, operation));
  columns.push_back(finding_column("gradients", "gradients"));
  return columns;
}

StudyTable table_of(const std::string& subject, std::vector<StudyColumn> columns) {
  return {.caption = "One dtype: runs in it and returns it; a -> b: runs in a, returns b; a+b: takes both",
          .spread = {"precision"},
          .columns = std::move(columns),
          .only = {{"subject", subject}},
          .quantities_down = true};
}

/// Returns the dtype in which the toy model's layer norm ran, or an empty text if that was not measured.
std::string layer_norm_dtype(const StudyMeasurements& all, const std::string& precision) {
  for (const CaseId& id : all.cases) {
    if (!has_all(id, {{"subject", "toy"}, {"precision", precision}})) continue;
    for (const Record* const record : all.records_of(id)) {
      const auto found = record->labels.find("layer norm");
      if (found != record->labels.end()) return found->second;
    }
  }
  return "";
}

/// Returns where autocast ran layer norm, with the reason if it was float32.
std::vector<std::string> sentences(const StudyMeasurements& all) {
  const std::string fp16 = layer_norm_dtype(all, "fp16");
  const std::string bf16 = layer_norm_dtype(all, "bf16");
  if (fp16.empty() || bf16.empty()) return {};
  std::string text = fmt::format("Under autocast, layer norm ran in {} with fp16 and in {} with bf16.", fp16, bf16);
  if (fp16 == "fp32" && bf16 == "fp32") {
    text +=
        " Its mean and variance are sums over the width. fp16 has a small range (at most 65,504) and 11 bits of "
        "significand; bf16 has float32's range, but 8 bits, so that long sums still lose small addends: with bf16, the "
        "second reason remains.";
  }
  return {text};
}

/// The dtypes in which operations run and return under autocast, in the course's toy model and in the transformer. The
/// names are the labels of the Autocast family, in the order of the computation.
Study autocast_study() {
  return {
      .name = "autocast",
      .title = "Dtypes under autocast, as the tensors have them",
      .grids = {{.family = "Autocast", .axes = {{"subject", {"toy", "transformer"}}, {"precision", {"fp16", "bf16"}}}}},
      .tables = {table_of("toy", quantities({"fc1", "relu", "layer norm", "logits", "loss"})),
                 table_of(
                     "transformer",
                     quantities({"embedding",      "rmsnorm",   "q projection",      "k projection", "v projection",
                                 "rope",           "scores",    "masked scores",     "softmax exp",  "softmax sum",
                                 "softmax",        "context",   "output projection", "residual",     "swiglu gate",
                                 "swiglu sigmoid", "swiglu up", "swiglu product",    "swiglu down",  "logits",
                                 "loss exp",       "loss"}))},
      .conclude = &sentences};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "autocast", .order = 100, .make = &autocast_study});

}  // namespace
}  // namespace tbench::studies::autocast
