// The error of long sums by length, format and order.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "studies/engine/studies.hpp"

namespace tbench::studies::accumulation {
namespace {

using Values = std::vector<std::string>;

/// Formats a value with all its digits, because the sums of the course are compared digit by digit.
std::string all_digits(double value) { return fmt::format("{}", value); }

std::string error_text(double value) { return fmt::format("{:.2e}", value); }

FamilyGrid grid(std::string op, Values n, std::string input, std::string accumulator, Values method) {
  return {.family = "Accumulation",
          .axes = {{"op", {std::move(op)}},
                   {"n", std::move(n)},
                   {"input", {std::move(input)}},
                   {"accumulator", {std::move(accumulator)}},
                   {"method", std::move(method)}}};
}

std::vector<FamilyGrid> grids() {
  const Values course{"1000"}, longer{"1000", "10000"}, longest{"1000", "10000", "100000"};
  const Values lengths{"1024", "65536", "1048576"};
  const Values extents{"256", "1024", "4096", "16384", "65536"};
  const Values orders{"sequential", "pairwise", "kahan"};
  return {grid("sum", longest, "fp32", "fp32", {"sequential"}),
          grid("sum", longer, "fp16", "fp16", {"sequential"}),
          grid("sum", longer, "fp16", "fp32", {"sequential"}),
          grid("sum", course, "fp16", "fp32", {"cast_up"}),
          grid("sum", longer, "bf16", "bf16", {"sequential"}),
          grid("sum", course, "bf16", "fp32", {"sequential", "cast_up"}),
          grid("reduce", lengths, "fp32", "fp32", {"sequential", "pairwise", "kahan", "aten"}),
          grid("reduce", lengths, "fp16", "fp16", orders),
          grid("reduce", lengths, "fp16", "fp32", {"aten"}),
          grid("reduce", lengths, "bf16", "bf16", orders),
          grid("reduce", lengths, "bf16", "fp32", {"aten"}),
          grid("dot", lengths, "fp32", "fp32", {"sequential", "kahan", "aten"}),
          grid("dot", lengths, "fp16", "fp16", {"sequential", "kahan"}),
          grid("dot", lengths, "fp16", "fp32", {"sequential"}),
          grid("dot", lengths, "bf16", "bf16", {"sequential"}),
          grid("matmul", extents, "fp32", "fp32", {"aten"}),
          grid("matmul", extents, "fp16", "fp32", {"aten", "cublaslt"}),
          grid("matmul", extents, "fp16", "fp16", {"aten", "cublaslt"}),
          grid("matmul", extents, "bf16", "fp32", {"aten", "cublaslt"})};
}

StudyColumn error_column() {
  StudyColumn column = number_column("relative error", "relative_error");
  column.format = &error_text;
  return column;
}

StudyTable by_length(const std::string& op, const std::string& caption, StudyColumn column) {
  return {.caption = caption, .spread = {"n"}, .columns = {std::move(column)}, .only = {{"op", op}}};
}

/// The value of a long sum in each accumulator: the course's sums of 0.01, sums and dot products of seeded values in
/// several orders, and matrix products of growing inner extent.
Study accumulation_study() {
  StudyColumn result = number_column("result", "result");
  result.format = &all_digits;
  Study study{
      .name = "accumulation",
      .title = "Where an accumulator breaks: error against float64 by length, format and order",
      .grids = grids(),
      .tables = {{.caption = "n additions of 0.01; the error is against the float64 sum of the addends as stored",
                  .spread = {},
                  .columns = {std::move(result), error_column(), number_column("ms", "median_ms")},
                  .only = {{"op", "sum"}}}}};
  for (const std::string op : {"reduce", "dot", "matmul"}) {
    study.tables.push_back(by_length(op, "Relative error against float64", error_column()));
    study.tables.push_back(by_length(op, "Median ms", number_column("ms", "median_ms")));
  }
  return study;
}

TBENCH_REGISTER(RegisteredStudy, {.name = "accumulation", .order = 90, .make = &accumulation_study});

}  // namespace
}  // namespace tbench::studies::accumulation
