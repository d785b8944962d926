// Compares the bandwidth of collectives, by operation and size, with the bandwidth of the link between the GPUs.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "studies/engine/studies.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/work.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies {
namespace {

constexpr double kGiga = 1e9;
constexpr int kSmallestExponent = 10;  // 1 KiB
constexpr int kLargestExponent = 32;   // 4 GiB
constexpr int kExponentStep = 2;
constexpr const char* kBusCounter = "bus_bytes_per_second";

std::string power_of_two(int exponent) { return fmt::format("{}", std::int64_t{1} << exponent); }

std::vector<std::string> operations() {
  const auto& names = EnumNames<CollectiveOp>::kNames;
  return {names.begin(), names.end()};
}

/// The bandwidth of the link between the GPUs, and the case that measured it.
struct Link {
  double bytes_per_second{};
  CaseId of;
};

/// Returns the largest bus bandwidth of send_recv between the given number of GPUs, or nullopt if none was measured.
std::optional<Link> find_link(const StudyMeasurements& all, const std::string& gpus) {
  const std::vector<CaseId::Parameter> wanted{{"op", std::string{to_string(CollectiveOp::kSendRecv)}}, {"gpus", gpus}};
  std::optional<Link> link;
  for (const CaseId& id : all.cases) {
    if (!id.has(wanted)) continue;
    const std::optional<double> rate = median_of(all.records_of(id), kBusCounter);
    if (rate && (!link || *rate > link->bytes_per_second)) link = Link{.bytes_per_second = *rate, .of = id};
  }
  return link;
}

std::optional<double> percent_of_link(const StudyCase& of) {
  const std::optional<Link> link = find_link(of.all, of.records.front()->id.at("gpus"));
  const std::optional<double> rate = median_of(of.records, kBusCounter);
  return link && rate ? std::optional{100 * *rate / link->bytes_per_second} : std::nullopt;
}

/// Returns a sentence for each number of GPUs that names the link with which its collectives are compared.
std::vector<std::string> links_in_words(const StudyMeasurements& all) {
  std::vector<std::string> counts;
  for (const CaseId& id : all.cases) {
    if (std::ranges::find(counts, id.at("gpus")) == counts.end()) counts.push_back(id.at("gpus"));
  }
  std::vector<std::string> sentences;
  for (const std::string& gpus : counts) {
    const std::optional<Link> link = find_link(all, gpus);
    if (!link) continue;
    sentences.push_back(fmt::format("The link of {} GPUs: {} GB/s, of send_recv with {} {}.", gpus,
                                    render::format_number(link->bytes_per_second / kGiga),
                                    render::format_bytes(link->of.int_at("bytes")), link->of.at("precision")));
  }
  return sentences;
}

StudyTable by_op(std::string caption, StudyColumn column) {
  return {.caption = std::move(caption), .spread = {"op"}, .columns = {std::move(column)}};
}

StudyColumn microseconds() { return number_column("us", "median_ms", 1e3); }

}  // namespace

FamilyGrid collective_grid(std::vector<std::string> op, std::vector<std::string> precision) {
  std::vector<std::string> bytes;
  for (int exponent = kSmallestExponent; exponent <= kLargestExponent; exponent += kExponentStep) {
    bytes.push_back(power_of_two(exponent));
  }
  return {
      .family = "Collective",
      .axes = {{"op", std::move(op)}, {"bytes", std::move(bytes)}, {"precision", std::move(precision)}, {"gpus", {}}}};
}

namespace {

Study collectives_study() {
  StudyTable latency = by_op(
      "Latency us by op: the median time of the smallest size, of which no link takes a notable part", microseconds());
  latency.only = {{"bytes", power_of_two(kSmallestExponent)}};
  return {
      .name = "collectives",
      .title = "Operations between GPUs by size: time, bandwidth, share of the link",
      .grids = {collective_grid(operations(), {"fp32", "bf16"})},
      .tables = {by_op("Bus bandwidth GB/s by bytes and op: what crosses the slowest link, nccl-tests' factor of the "
                       "operation times the algorithm bandwidth; comparable between operations and numbers of GPUs",
                       number_column("GB/s", kBusCounter, 1 / kGiga)),
                 by_op("Algorithm bandwidth GB/s by bytes and op: bytes over the median time",
                       number_column("GB/s", "bytes_per_second", 1 / kGiga)),
                 by_op("Median time us by bytes and op", microseconds()),
                 by_op("Share of the link % by bytes and op: the bus bandwidth over the largest of send_recv between "
                       "as many GPUs. That is what NCCL gets out of the link around a ring, every GPU sending and "
                       "receiving, and not what a copy between two GPUs would; an operation that uses more links "
                       "than those to two neighbours can be above 100",
                       {.header = "%", .value = {}, .format = &render::format_number, .of_case = percent_of_link}),
                 std::move(latency)},
      .conclude = &links_in_words};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "collectives", .order = 230, .make = &collectives_study});

}  // namespace
}  // namespace tbench::studies
