// How a step's time grows with the context and with the model.
#include <algorithm>
#include <stdexcept>

#include "studies.hpp"
#include "tbench/core/text.hpp"

namespace tbench::report {
namespace {

double tokens(const std::string& value, std::span<const ModelSize>) {
  return static_cast<double>(parse_integer(value).value());
}

double parameters(const std::string& value, std::span<const ModelSize> sizes) {
  const auto found = std::ranges::find(sizes, value, &ModelSize::name);
  if (found == sizes.end()) throw std::out_of_range{"scaling: no size '" + value + "'"};
  return static_cast<double>(parameter_count(*found));
}

}  // namespace

Study scaling_study() {
  const std::vector<StudyColumn> columns{number_column("ms", "median_ms")};
  return {.name = "scaling",
          .title = "Time against context and against parameters",
          .grids = {model_grid({"128", "256", "512", "1024"}, {"forward", "forward_backward", "train_step"},
                               {"fp32", "bf16"})},
          .protocol = {},
          .tables = {{.caption = "Median ms by context; time ~ ctx^exponent",
                      .spread = {"ctx"},
                      .columns = columns,
                      .speed_up = {},
                      .fit = StudyFit{.of = "ctx", .x = tokens}},
                     {.caption = "Median ms by size; time ~ parameters^exponent",
                      .spread = {"size"},
                      .columns = columns,
                      .speed_up = {},
                      .fit = StudyFit{.of = "parameters", .x = parameters}}}};
}

}  // namespace tbench::report
