// Which dtype each operation runs and returns in under autocast: the course's toy model, and the transformer. The names
// are those of the Autocast family's findings (bench/README.md), in the order of the computation.
#include <initializer_list>

#include "studies.hpp"

namespace tbench::report {
namespace {

/// What every subject has around its operations.
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
          .speed_up = {},
          .fit = {},
          .only = {{"subject", subject}},
          .quantities_down = true};
}

}  // namespace

Study autocast_study() {
  return {
      .name = "autocast",
      .title = "Dtypes under autocast, as the tensors have them",
      .grids = {{.family = "Autocast", .axes = {{"subject", {"toy", "transformer"}}, {"precision", {"fp16", "bf16"}}}}},
      .protocol = {},
      .tables = {
          table_of("toy", quantities({"fc1", "relu", "layer norm", "logits", "loss"})),
          table_of("transformer",
                   quantities({"embedding",      "rmsnorm",   "q projection",      "k projection", "v projection",
                               "rope",           "scores",    "masked scores",     "softmax exp",  "softmax sum",
                               "softmax",        "context",   "output projection", "residual",     "swiglu gate",
                               "swiglu sigmoid", "swiglu up", "swiglu product",    "swiglu down",  "logits",
                               "loss exp",       "loss"}))}};
}

}  // namespace tbench::report
