// The Gemm family: one matrix product, y [m, n] = x [m, k] w [n, k]^T, by shape, precision and implementation, for the
// models' shapes and for squares.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/families/family.hpp"
#include "bench/families/sustained.hpp"
#include "tbench/model/gemm_case.hpp"

namespace tbench::bench::gemm_family {
namespace {

using Values = std::vector<std::string>;

/// The tokens of a model's step: the course's batch of 4 with a context of 512.
constexpr std::int64_t kTokens = 2048;
constexpr std::array<std::int64_t, 7> kSquares{256, 512, 1024, 2048, 4096, 8192, 16384};
// Above any useful shape, and small enough that every product of two extents and an element's bytes fits into 64 bits.
constexpr std::int64_t kLargestExtent = std::int64_t{1} << 20;

struct Shape {
  std::int64_t m{}, n{}, k{};
  bool operator==(const Shape&) const = default;
};

Shape square(std::int64_t extent) { return {.m = extent, .n = extent, .k = extent}; }

Values all_precisions() {
  Values names;
  for (const model::GemmPrecision precision : model::kAllGemmPrecisions) names.emplace_back(to_string(precision));
  return names;
}

void add(std::vector<CaseTable>& tables, const std::string& name, Suite suite, bool is_course_grid, const Shape& shape,
         Values precisions, Axis regime = regime_axis()) {
  const auto axis = [](const std::string& key, std::int64_t extent) { return Axis{key, {fmt::format("{}", extent)}}; };
  tables.push_back({name,
                    suite,
                    is_course_grid,
                    {axis("m", shape.m),
                     axis("n", shape.n),
                     axis("k", shape.k),
                     {"precision", std::move(precisions)},
                     {"impl", model::gemm_impl_names()},
                     std::move(regime)}});
}

/// Returns the matrix products of one model size: projections one by one and fused, both directions of the FFN, LM
/// head.
std::vector<Shape> shapes_of(const ModelSize& size) {
  const auto layer = [](std::int64_t outputs, std::int64_t inputs) {
    return Shape{.m = kTokens, .n = outputs, .k = inputs};
  };
  return {layer(size.d_model, size.d_model), layer(3 * size.d_model, size.d_model), layer(size.d_ff, size.d_model),
          layer(size.d_model, size.d_ff), layer(kVocabSize, size.d_model)};
}

/// Returns the shapes of all model sizes of the course, each shape once.
std::vector<Shape> model_shapes() {
  std::vector<Shape> shapes;
  for (const ModelSize& size : course_model_sizes()) {
    for (const Shape& shape : shapes_of(size)) {
      if (std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(shape);
    }
  }
  return shapes;
}

const ModelSize& size_named(const std::string& name) {
  return *std::ranges::find(builtin_model_sizes(), name, &ModelSize::name);
}

/// Adds the most common cases: two squares in every precision, and the largest models' FFN and LM head in bf16.
void add_standard(std::vector<CaseTable>& tables) {
  add(tables, "square", Suite::kStandard, true, square(4096), all_precisions());
  add(tables, "square", Suite::kStandard, false, square(8192), all_precisions());
  for (const auto* const name : {"xl", "2.7B"}) {
    const ModelSize& size = size_named(name);
    add(tables, "models", Suite::kStandard, false, {kTokens, size.d_ff, size.d_model}, {"bf16"});
    add(tables, "models", Suite::kStandard, false, {kTokens, kVocabSize, size.d_model}, {"bf16"});
  }
}

std::vector<CaseTable> tables() {
  std::vector<CaseTable> all;
  add(all, "course", Suite::kSmoke, true, {.m = 64, .n = 96, .k = 128}, all_precisions());
  add(all, "odd", Suite::kSmoke, false, {.m = 37, .n = 53, .k = 29}, {"fp32", "bf16"});
  add_standard(all);
  for (const std::int64_t extent : kSquares) {
    add(all, "square", Suite::kFull, extent == 4096, square(extent), all_precisions());
  }
  for (const Shape& shape : model_shapes()) add(all, "models", Suite::kFull, false, shape, all_precisions());
  add(all, "sustained", Suite::kFull, false, square(8192), {"bf16", "fp8_e4m3"}, regime_axis({"sustained"}));
  return all;
}

std::optional<std::string> invalid_reason(const CaseId& id) {
  for (const auto* const key : {"m", "n", "k"}) {
    if (id.int_at(key) > kLargestExtent)
      return fmt::format("{}:{} is too large: at most {}", key, id.at(key), kLargestExtent);
  }
  return std::nullopt;
}

model::GemmPrecision precision_of_case(const CaseId& id) {
  return model::parse_gemm_precision(id.at("precision")).value();
}

std::unique_ptr<Case> make_case(const CaseId& id, const CaseContext& context) {
  return model::make_gemm_case({.m = id.int_at("m"),
                                .n = id.int_at("n"),
                                .k = id.int_at("k"),
                                .precision = precision_of_case(id),
                                .impl = id.at("impl"),
                                .device = context.on_gpu ? model::DeviceKind::kCuda : model::DeviceKind::kCpu,
                                .seed = context.seed});
}

Family make_family(std::span<const ModelSize> /*extra_sizes*/) {
  return {.spec = {.name = "Gemm",
                   .keys = {{"m", {}},
                            {"n", {}},
                            {"k", {}},
                            {"precision", all_precisions()},
                            {"impl", model::gemm_impl_names()},
                            regime_key()},
                   .tables = tables(),
                   .invalid_reason = &invalid_reason,
                   .regime = Regime::kBurst},
          .make_case = &make_case,
          .precision = [](const CaseId& id) { return model::common_precision(precision_of_case(id)); },
          .ceiling = [](const CaseId& id) -> std::optional<std::string> { return "gemm_" + id.at("precision"); },
          .prescribe = &prescribe_sustained};
}

TBENCH_REGISTER(RegisteredFamily, {.name = "Gemm", .order = 30, .make = &make_family});

}  // namespace
}  // namespace tbench::bench::gemm_family
