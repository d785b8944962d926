// The Accumulation family: the error of long sums against float64, by format of terms and accumulator, length and
// order. It has the course's sums of 0.01, and sums, dot products and matrix products.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/families/family.hpp"
#include "tbench/model/accumulation_case.hpp"

namespace tbench::bench::accumulation_family {
namespace {

using Values = std::vector<std::string>;

const Values kFormats{"fp32", "fp16", "bf16"};

/// Sums that differ only in length and order.
struct Sums {
  std::string op;
  Values n;
  std::string input, accumulator;
  Values method;
};

void add(std::vector<CaseTable>& tables, Suite suite, const std::vector<Sums>& all) {
  for (const Sums& sums : all) {
    tables.push_back({sums.op,
                      suite,
                      true,
                      {{"op", {sums.op}},
                       {"n", sums.n},
                       {"input", {sums.input}},
                       {"accumulator", {sums.accumulator}},
                       {"method", sums.method}}});
  }
}

/// Returns the four sums of the course, and its three sums in fp16 again in bfloat16.
std::vector<Sums> course_sums() {
  const Values n{"1000"};
  return {{"sum", n, "fp32", "fp32", {"sequential"}},
          {"sum", n, "fp16", "fp16", {"sequential"}},
          {"sum", n, "fp16", "fp32", {"sequential", "cast_up"}},
          {"sum", n, "bf16", "bf16", {"sequential"}},
          {"sum", n, "bf16", "fp32", {"sequential", "cast_up"}}};
}

std::vector<Sums> smoke_sums() {
  const Values sum{"10000"}, vector{"4096"}, product{"256"};
  return {{"sum", sum, "fp32", "fp32", {"sequential"}},
          {"sum", sum, "fp16", "fp16", {"sequential"}},
          {"sum", sum, "bf16", "bf16", {"sequential"}},
          {"reduce", vector, "fp32", "fp32", {"sequential", "pairwise", "kahan", "aten"}},
          {"reduce", vector, "fp16", "fp16", {"kahan"}},
          {"reduce", vector, "fp16", "fp32", {"aten"}},
          {"dot", vector, "fp32", "fp32", {"kahan", "aten"}},
          {"matmul", product, "fp32", "fp32", {"aten"}},
          {"matmul", product, "fp16", "fp16", {"aten", "cublaslt"}},
          {"matmul", product, "bf16", "fp32", {"aten", "cublaslt"}}};
}

/// Returns sums of lengths at which 16-bit accumulators fail, with the orders of summation that help.
std::vector<Sums> standard_sums() {
  const Values vector{"65536"}, product{"4096", "65536"};
  return {{"reduce", vector, "fp32", "fp32", {"sequential", "kahan", "aten"}},
          {"reduce", vector, "fp16", "fp16", {"sequential", "pairwise", "kahan"}},
          {"reduce", vector, "bf16", "bf16", {"sequential", "kahan"}},
          {"matmul", product, "fp16", "fp32", {"cublaslt"}},
          {"matmul", product, "fp16", "fp16", {"cublaslt"}},
          {"matmul", {"65536"}, "bf16", "fp32", {"cublaslt"}}};
}

/// Returns longer sums. Only float32 has a length of 100,000, at which its error shows: so many eager additions take
/// most of a second on a GPU.
std::vector<Sums> full_sums() {
  const Values longer{"10000"}, vector{"1024", "65536", "1048576"}, product{"256", "1024", "4096", "16384", "65536"};
  const Values orders{"sequential", "pairwise", "kahan"}, libraries{"aten", "cublaslt"};
  return {{"sum", {"10000", "100000"}, "fp32", "fp32", {"sequential"}},
          {"sum", longer, "fp16", "fp16", {"sequential"}},
          {"sum", longer, "fp16", "fp32", {"sequential"}},
          {"sum", longer, "bf16", "bf16", {"sequential"}},
          {"reduce", vector, "fp32", "fp32", {"sequential", "pairwise", "kahan", "aten"}},
          {"reduce", vector, "fp16", "fp16", orders},
          {"reduce", vector, "fp16", "fp32", {"aten"}},
          {"reduce", vector, "bf16", "bf16", orders},
          {"reduce", vector, "bf16", "fp32", {"aten"}},
          {"dot", vector, "fp32", "fp32", {"sequential", "kahan", "aten"}},
          {"dot", vector, "fp16", "fp16", {"sequential", "kahan"}},
          {"dot", vector, "fp16", "fp32", {"sequential"}},
          {"dot", vector, "bf16", "bf16", {"sequential"}},
          {"matmul", product, "fp32", "fp32", {"aten"}},
          {"matmul", product, "fp16", "fp32", libraries},
          {"matmul", product, "fp16", "fp16", libraries},
          {"matmul", product, "bf16", "fp32", libraries}};
}

std::vector<CaseTable> tables() {
  std::vector<CaseTable> all;
  for (const Suite suite : {Suite::kSmoke, Suite::kStandard, Suite::kFull}) add(all, suite, course_sums());
  add(all, Suite::kSmoke, smoke_sums());
  add(all, Suite::kStandard, standard_sums());
  add(all, Suite::kFull, full_sums());
  return all;
}

model::AccumulationConfig config_of_sum(const CaseId& id) {
  return {.op = model::parse_accumulation_op(id.at("op")).value(),
          .n = id.int_at("n"),
          .input = parse_enum<Precision>(id.at("input")).value(),
          .accumulator = parse_enum<Precision>(id.at("accumulator")).value(),
          .method = model::parse_accumulation_method(id.at("method")).value(),
          .device = model::DeviceKind::kCpu,
          .seed = 0};
}

/// Returns the ceiling of a matrix product; only float32 accumulators have one.
std::optional<std::string> ceiling_of_sum(const CaseId& id) {
  const model::AccumulationConfig config = config_of_sum(id);
  if (config.op != model::AccumulationOp::kMatmul || config.accumulator != Precision::kFp32) return std::nullopt;
  return "gemm_" + id.at("input");
}

Family make_family(std::span<const ModelSize> /*extra_sizes*/) {
  return {
      .spec = {.name = "Accumulation",
               .keys = {{"op", model::accumulation_op_names()},
                        {"n", {}},
                        {"input", kFormats},
                        {"accumulator", kFormats},
                        {"method", model::accumulation_method_names()}},
               .tables = tables(),
               .invalid_reason = [](const CaseId& id) { return model::accumulation_invalid_reason(config_of_sum(id)); },
               .regime = Regime::kBurst},
      .make_case = [](const CaseId& id, const CaseContext& context) -> std::unique_ptr<Case> {
        model::AccumulationConfig config = config_of_sum(id);
        config.device = context.on_gpu ? model::DeviceKind::kCuda : model::DeviceKind::kCpu;
        config.seed = context.seed;
        return model::make_accumulation_case(config);
      },
      .precision = [](const CaseId& id) -> std::optional<Precision> {
        const model::AccumulationConfig config = config_of_sum(id);
        if (config.op != model::AccumulationOp::kMatmul) return std::nullopt;  // no rate to compare with
        return config.input;
      },
      .ceiling = &ceiling_of_sum,
      .prescribe = &prescribe_few_samples};
}

TBENCH_REGISTER(RegisteredFamily, {.name = "Accumulation", .order = 50, .make = &make_family});

}  // namespace
}  // namespace tbench::bench::accumulation_family
