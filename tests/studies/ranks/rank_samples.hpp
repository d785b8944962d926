// Makes records of several GPUs' joint work, with figures computed by hand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../support/sample_results.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/work.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {

inline Record collective(CollectiveOp op, std::int64_t bytes, std::int64_t gpus, double microseconds,
                         const std::string& precision = "fp32") {
  Record record = support::timed_record({"Collective",
                                         {{"op", std::string{to_string(op)}},
                                          {"bytes", std::to_string(bytes)},
                                          {"precision", precision},
                                          {"gpus", std::to_string(gpus)}}},
                                        Seconds{microseconds * 1e-6});
  record.work = Work{.bytes = bytes};
  record.counters["bus_factor"] = bus_factor(op, gpus);
  return record;
}

inline Record overlap(std::int64_t bytes, const std::string& precision, double products, double exchange, double both) {
  Record record =
      support::timed_record({"Overlap", {{"bytes", std::to_string(bytes)}, {"precision", precision}, {"gpus", "2"}}},
                            Seconds{products + exchange + both});
  record.timing->phases = {{"products", Seconds{products}}, {"exchange", Seconds{exchange}}, {"both", Seconds{both}}};
  return record;
}

/// Returns `DataParallel/size:small/ctx:512/batch:4/precision:bf16/impl:sdpa/gpus:G/strategy:S[/bucket_mib:B]`.
inline CaseId parallel_id(const std::string& strategy, const std::string& gpus = "2", const std::string& bucket = "") {
  std::vector<CaseId::Parameter> parameters{{"size", "small"},     {"ctx", "512"},   {"batch", "4"},
                                            {"precision", "bf16"}, {"impl", "sdpa"}, {"gpus", gpus},
                                            {"strategy", strategy}};
  if (!bucket.empty()) parameters.emplace_back("bucket_mib", bucket);
  return {"DataParallel", std::move(parameters)};
}

inline Record parallel(const CaseId& id, double milliseconds) {
  Record record = support::timed_record(id, Seconds{milliseconds * 1e-3});
  record.work = Work{.tokens = id.int_at("gpus") * 4 * 512};
  return record;
}

inline StudyReport rank_report(const std::string& study, std::vector<Record> records,
                               std::vector<AxisOverride> axes = {}, const std::string& filter = "") {
  const results::NamedResults file = support::gpu_results(std::move(records));
  return study_report(find_study(study, "--study"), std::vector{file}, {.axes = std::move(axes), .filter = filter});
}

/// Returns the section whose caption contains `text`.
inline StudySection section_of(const StudyReport& report, const std::string& text) {
  for (const StudySection& section : report.sections) {
    if (section.caption.find(text) != std::string::npos) return section;
  }
  throw std::out_of_range{"no section of " + text};
}

}  // namespace tbench::studies
