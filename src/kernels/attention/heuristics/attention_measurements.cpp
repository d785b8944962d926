#include "tbench/kernels/attention_measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <tuple>

#include "kernels/attention/heuristics/csv_source.hpp"
#include "tbench/core/text.hpp"

namespace tbench::kernels {
namespace {

constexpr std::string_view kHeader =
    "gpu,build,date,l2,batch,heads,seq_q,seq_kv,head_dim,causal,precision,pass,config,us,source";
enum Column {
  kGpu,
  kBuild,
  kDate,
  kL2,
  kBatch,
  kHeads,
  kSeqQ,
  kSeqKv,
  kHeadDim,
  kCausal,
  kPrecision,
  kPass,
  kConfig,
  kUs
};
constexpr std::size_t kColumns = 15;

/// A row of a CSV file, with the file's name for messages.
struct Row {
  std::string_view file;
  std::vector<std::string> cells;

  template <class Number>
  [[nodiscard]] Number number(Column column) const {
    const std::string& text = cells.at(column);
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size()) return value;
    throw std::invalid_argument{fmt::format("{}: '{}' is not a number", file, text)};
  }
  [[nodiscard]] Precision precision() const {
    if (const auto known = parse_enum<Precision>(cells.at(kPrecision))) return *known;
    throw std::invalid_argument{fmt::format("{}: '{}' is not a precision", file, cells.at(kPrecision))};
  }
};

AttentionMeasurement measurement_of(const Row& row) {
  const auto extent = [&row](Column column) { return row.number<std::int64_t>(column); };
  return {.file = std::string{row.file},
          .gpu = row.cells[kGpu],
          .build = row.cells[kBuild],
          .date = row.cells[kDate],
          .l2 = row.cells[kL2],
          .pass = row.cells[kPass],
          .shape = {.batch = extent(kBatch),
                    .heads = extent(kHeads),
                    .seq_q = extent(kSeqQ),
                    .seq_kv = extent(kSeqKv),
                    .head_dim = extent(kHeadDim),
                    .causal = extent(kCausal) != 0},
          .precision = row.precision(),
          .times = {}};
}

auto shape_and_pass(const AttentionShape& shape, Precision precision, std::string_view pass) {
  return std::tuple{shape.batch, shape.heads, shape.seq_q, shape.seq_kv, shape.head_dim, shape.causal, precision, pass};
}

bool is_same_session(const AttentionMeasurement& a, const AttentionMeasurement& b) {
  return std::tie(a.file, a.gpu, a.build, a.date, a.l2) == std::tie(b.file, b.gpu, b.build, b.date, b.l2) &&
         shape_and_pass(a.shape, a.precision, a.pass) == shape_and_pass(b.shape, b.precision, b.pass);
}

void add_file(const EmbeddedFile& file, std::vector<AttentionMeasurement>& all) {
  const std::vector<std::string> lines = split(file.content, '\n');
  if (lines.front() != kHeader)
    throw std::invalid_argument{fmt::format("{}: has not the columns {}", file.name, kHeader)};
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    const Row row{file.name, split(lines[i], ',')};
    if (row.cells.size() != kColumns) {
      throw std::invalid_argument{
          fmt::format("{}:{}: {} columns, not {}", file.name, i + 1, row.cells.size(), kColumns)};
    }
    AttentionMeasurement measurement = measurement_of(row);
    const auto known = std::ranges::find_if(
        all, [&](const AttentionMeasurement& other) { return is_same_session(other, measurement); });
    AttentionMeasurement& session = known != all.end() ? *known : all.emplace_back(std::move(measurement));
    session.times.push_back({.config = row.cells[kConfig], .us = row.number<double>(kUs)});
  }
}

}  // namespace

const std::vector<AttentionMeasurement>& attention_measurements() {
  static const std::vector<AttentionMeasurement> all = [] {
    std::vector<AttentionMeasurement> read;
    for (const EmbeddedFile& file : heuristics_csv_files()) add_file(file, read);
    return read;
  }();
  return all;
}

std::vector<AttentionMeasurement> attention_measurements_of(const AttentionProblem& problem, std::string_view pass,
                                                            std::string_view gpu) {
  std::vector<AttentionMeasurement> found;
  const auto wanted = shape_and_pass(problem.shape, problem.precision, pass);
  for (const AttentionMeasurement& one : attention_measurements()) {
    if (one.gpu == gpu && shape_and_pass(one.shape, one.precision, one.pass) == wanted) found.push_back(one);
  }
  std::ranges::stable_sort(found, std::ranges::greater{},
                           [](const AttentionMeasurement& one) { return one.times.size(); });
  return found;
}

}  // namespace tbench::kernels
