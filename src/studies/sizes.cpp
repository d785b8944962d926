// The sizes of the model: extents, parameters, and the bytes of its weights and of AdamW's state.
#include <optional>
#include <utility>

#include "studies/engine/studies.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/core/step_counts.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::sizes {
namespace {

constexpr double kMebi = 1024.0 * 1024.0;
constexpr double kMillion = 1e6;
constexpr double kFloatBytes = 4;

/// Returns a column with a figure of a case's model size.
template <class Figure>
StudyColumn size_column(std::string header, Figure figure) {
  return {.header = std::move(header),
          .value = {},
          .format = &render::format_thousands,
          .of_case = [figure](const StudyCase& of) -> std::optional<double> {
            const std::optional<ModelSize> size = model_size_of(of.records.front()->id, of.all.sizes);
            return size ? std::optional{static_cast<double>(figure(*size))} : std::nullopt;
          }};
}

double weight_mebibytes(const ModelSize& size) {
  return static_cast<double>(parameter_count(size)) * kFloatBytes / kMebi;
}

Study sizes_study() {
  return {.name = "sizes",
          .title = "The model's sizes",
          .grids = {model_grid({"128"}, {"forward"}, {"fp32"})},
          .tables = {
              {.caption = "Parameters with the vocabulary's tables and without biases. Weights are in float32; "
                          "AdamW keeps two moments of the same size, and training a gradient",
               .spread = {},
               .columns = {size_column("d_model", [](const ModelSize& size) { return size.d_model; }),
                           size_column("d_ff", [](const ModelSize& size) { return size.d_ff; }),
                           size_column("layers", [](const ModelSize& size) { return size.num_layers; }),
                           size_column("heads", [](const ModelSize& size) { return size.num_heads; }),
                           size_column("kv heads", [](const ModelSize& size) { return size.kv_heads(); }),
                           size_column("head_dim", [](const ModelSize& size) { return size.head_dim(); }),
                           size_column("vocabulary", [](const ModelSize& size) { return size.vocab_size; }),
                           size_column("parameters / 1e6",
                                       [](const ModelSize& size) {
                                         return static_cast<double>(parameter_count(size)) / kMillion;
                                       }),
                           size_column("weights MiB", &weight_mebibytes),
                           size_column("AdamW MiB", [](const ModelSize& size) { return 2 * weight_mebibytes(size); })},
               .is_without_times = true}}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "sizes", .order = 220, .make = &sizes_study});

}  // namespace
}  // namespace tbench::studies::sizes
