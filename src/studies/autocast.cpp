// The dtypes of operations under autocast.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
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
  columns.push_back(finding_column("backward products", "backward products"));
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

/// Returns the dtype of an operation, or an empty text if it was not measured.
std::string dtype_of(const StudyMeasurements& all, const std::string& subject, const std::string& precision,
                     const std::string& operation) {
  for (const CaseId& id : all.cases) {
    if (!has_all(id, {{"subject", subject}, {"precision", precision}})) continue;
    for (const Record* const record : all.records_of(id)) {
      const auto found = record->labels.find(operation);
      if (found != record->labels.end()) return found->second;
    }
  }
  return "";
}

/// Returns where autocast ran layer norm, with the reason if it was float32.
std::string layer_norm_sentence(const StudyMeasurements& all) {
  const std::string fp16 = dtype_of(all, "toy", "fp16", "layer norm");
  const std::string bf16 = dtype_of(all, "toy", "bf16", "layer norm");
  if (fp16.empty() || bf16.empty()) return "";
  std::string text =
      fmt::format("Under autocast, the toy model's layer norm ran in {} with fp16 and in {} with bf16.", fp16, bf16);
  if (fp16 == "fp32" && bf16 == "fp32") {
    text +=
        " Its mean and variance are sums over the width. fp16 has a small range (at most 65,504) and 11 bits of "
        "significand; bf16 has float32's range, but 8 bits, so that long sums still lose small addends: with bf16, the "
        "significand remains a reason, and the range does not.";
  }
  return text;
}

/// Returns whether all these operations of the transformer have the dtype.
bool have_dtype(const StudyMeasurements& all, const std::string& precision,
                std::initializer_list<const char*> operations, const std::string& dtype) {
  return std::ranges::all_of(
      operations, [&](const char* operation) { return dtype_of(all, "transformer", precision, operation) == dtype; });
}

/// Returns which operations of the transformer autocast ran in 16 bits and which in float32, with the reasons. A group
/// is left out if one of its operations ran otherwise or was not measured.
std::vector<std::string> transformer_sentences(const StudyMeasurements& all, const std::string& precision) {
  std::vector<std::string> found;
  if (have_dtype(all, precision,
                 {"q projection", "k projection", "v projection", "scores", "context", "output projection",
                  "swiglu gate", "swiglu up", "swiglu down", "logits", "backward products"},
                 precision)) {
    found.push_back(fmt::format(
        "With {0}, the transformer's matrix products ran in {0}, forward and backward. Tensor Cores multiply 16-bit "
        "factors faster and add the products in float32. Each factor and each result is rounded once; the errors of "
        "the factors, which have both signs, average out in long sums.",
        precision));
  }
  if (have_dtype(all, precision, {"softmax exp", "softmax sum", "softmax", "loss exp", "loss"}, "fp32")) {
    found.push_back(fmt::format(
        "With {}, the exponential, sum and quotient of softmax and the loss ran in float32: sums over many keys or "
        "words would lose small addends in 16 bits.",
        precision));
  }
  if (have_dtype(all, precision, {"parameters", "gradients"}, "fp32")) {
    found.push_back(fmt::format(
        "With {}, parameters stayed in float32: an optimizer's update is often smaller than half a unit in the last "
        "place of a 16-bit weight, and would be lost. Gradients have the type of their parameters.",
        precision));
  }
  return found;
}

std::vector<std::string> sentences(const StudyMeasurements& all) {
  std::vector<std::string> found{layer_norm_sentence(all)};
  for (const char* const precision : {"fp16", "bf16"}) {
    std::ranges::move(transformer_sentences(all, precision), std::back_inserter(found));
  }
  std::erase(found, "");
  return found;
}

/// The dtypes in which operations run and return under autocast, in the course's toy model and in the transformer. The
/// names are the labels of the Autocast family, in the order of the computation.
Study autocast_study() {
  return {
      .name = "autocast",
      .title = "Dtypes of tensors under autocast",
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
