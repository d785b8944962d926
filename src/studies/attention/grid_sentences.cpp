// Concludes from the times and the memory of attention: growth with the length, gains over `naive`, and limits.
#include "studies/attention/grid_sentences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

#include "studies/engine/case_parameters.hpp"
#include "studies/engine/sentences.hpp"
#include "studies/engine/studies.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies {
namespace {

constexpr double kMebi = 1024.0 * 1024.0;
constexpr double kGibi = 1024.0 * kMebi;
constexpr const char* kBase = "naive";

/// Returns how the time and the held memory of an implementation grow with the length, at d_model 64.
std::string growth_sentence(const StudyMeasurements& all, const std::string& impl) {
  const auto median = [&](const char* counter) {
    return [&all, counter](const CaseId& id) { return median_of(all.records_of(id), counter); };
  };
  const auto time =
      growth_over(all, "seq_len", {{"impl", impl}, {"d_model", "64"}, {"pass", "forward"}}, median("median_ms"));
  if (!time) return "";
  std::string text = fmt::format(
      "Forward of {} at d_model 64: from {} to {} tokens, the time grows with the power {:.2f} of the length", impl,
      time->from, time->to, time->exponent);
  const auto held = growth_over(all, "seq_len", {{"impl", impl}, {"d_model", "64"}, {"pass", "forward_backward"}},
                                median("held_bytes"));
  if (held) {
    text += fmt::format("; from {} to {} tokens, the memory held for backward with the power {:.2f}", held->from,
                        held->to, held->exponent);
  }
  return text + ".";
}

/// Returns which case asked for the fewest bytes that the memory did not have, or an empty text if none failed.
std::string memory_sentence(const StudyMeasurements& all) {
  const Record* smallest = nullptr;
  for (const CaseId& id : all.cases) {
    for (const Record* const record : all.records_of(id)) {
      if (record->status != Status::kOom || !record->requested_bytes) continue;
      if (smallest == nullptr || *record->requested_bytes < *smallest->requested_bytes) smallest = record;
    }
  }
  if (smallest == nullptr) return "";
  return fmt::format("The smallest allocation that failed: {} GiB, {} of {} with {} tokens at d_model {}.",
                     render::format_number(static_cast<double>(*smallest->requested_bytes) / kGibi),
                     smallest->id.at("pass"), smallest->id.at("impl"), smallest->id.at("seq_len"),
                     smallest->id.at("d_model"));
}

/// Returns which memory the longest sequences of an implementation need, and which sequences fit into less. The text is
/// empty if a case failed for memory, since memory_sentence() then names the limit. It is empty, too, if all need less
/// than a GiB, which limits no length on a GPU.
std::string peak_sentence(const StudyMeasurements& all, const std::string& impl) {
  std::map<std::int64_t, NamedRange> by_length;  // of forward and backward, in GiB, by d_model
  for (const CaseId& id : all.cases) {
    if (!has_all(id, {{"impl", impl}, {"pass", "forward_backward"}})) continue;
    for (const Record* const record : all.records_of(id)) {
      if (record->status == Status::kOom) return "";
      if (!record->memory) continue;
      by_length[id.int_at("seq_len")].add(static_cast<double>(record->memory->allocated_peak) / kGibi,
                                          "d_model " + id.at("d_model"));
    }
  }
  if (by_length.size() < 2) return "";
  const auto longest = std::prev(by_length.end());
  if (longest->second.high < 1) return "";
  const auto shorter = std::prev(longest);
  return fmt::format(
      "Forward and backward of {} with {} tokens peak at {}. A GPU with less memory is limited to shorter sequences: "
      "with {} tokens they peak at {}.",
      impl, longest->first, longest->second.text("GiB"), shorter->first, shorter->second.text("GiB"));
}

/// Returns the largest length for which the implementation has a forward and backward case with a time; 0 without one.
std::int64_t longest_of(const StudyMeasurements& all, const std::string& impl) {
  std::int64_t longest = 0;
  for (const CaseId& id : all.cases) {
    if (!has_all(id, {{"impl", impl}, {"pass", "forward_backward"}})) continue;
    if (median_of(all.records_of(id), "median_ms")) longest = std::max(longest, id.int_at("seq_len"));
  }
  return longest;
}

/// Returns the factors by which a figure of an implementation is below the figure of `naive`, over the widths.
NamedRange factors_to_naive(const StudyMeasurements& all, const std::vector<CaseId::Parameter>& parameters,
                            const std::string& counter) {
  NamedRange factors;
  for (const CaseId& id : all.cases) {
    if (!has_all(id, parameters)) continue;
    if (const auto factor = factor_over(all, id, "impl", kBase, counter)) {
      factors.add(*factor, "d_model " + id.at("d_model"));
    }
  }
  return factors;
}

/// Returns what an implementation gains over `naive` in its longest sequences, where neither the host nor the
/// workspaces of libraries matter. The text is empty unless `naive` has the same cases.
std::string gain_sentence(const StudyMeasurements& all, const std::string& impl) {
  if (impl == kBase) return "";
  const std::string length = fmt::format("{}", longest_of(all, impl));
  const std::vector<CaseId::Parameter> both{{"impl", impl}, {"seq_len", length}, {"pass", "forward_backward"}};
  const NamedRange forward =
      factors_to_naive(all, {{"impl", impl}, {"seq_len", length}, {"pass", "forward"}}, "median_ms");
  const NamedRange backward = factors_to_naive(all, both, "backward_ms");
  const NamedRange peak = factors_to_naive(all, both, "peak_allocated_bytes");
  if (forward.count == 0 || backward.count == 0 || peak.count == 0) return "";
  return fmt::format(
      "With {} tokens, {} compared with naive: forward is {} times as fast, backward {} times. The peak memory of "
      "forward and backward is lower by a factor of {}.",
      length, impl, forward.text(), backward.text(), peak.text());
}

/// Returns the memory that `flash` holds for backward in the longest sequence, beside `naive`. The difference is the
/// scores, which `flash` computes again in the backward pass.
std::string recomputing_sentence(const StudyMeasurements& all) {
  const CaseId* longest = nullptr;
  const auto held = [&all](const CaseId& id) { return median_of(all.records_of(id), "held_bytes"); };
  for (const CaseId& id : all.cases) {
    if (!has_all(id, {{"impl", "flash"}, {"d_model", "64"}, {"pass", "forward_backward"}})) continue;
    if (!held(id) || !held(with_value(id, "impl", kBase))) continue;
    if (longest == nullptr || id.int_at("seq_len") > longest->int_at("seq_len")) longest = &id;
  }
  if (longest == nullptr) return "";
  const double own = held(*longest).value() / kMebi;
  const double naive = held(with_value(*longest, "impl", kBase)).value() / kMebi;
  return fmt::format(
      "Recomputing instead of keeping: with {} tokens at d_model 64, naive holds {} MiB for the backward pass. flash "
      "computes the scores again in the backward pass and holds {} MiB, {:.1f} % less.",
      longest->at("seq_len"), render::format_number(naive), render::format_number(own), 100 * (1 - own / naive));
}

}  // namespace

std::vector<std::string> grid_sentences(const StudyMeasurements& all) {
  std::vector<std::string> impls;
  for (const CaseId& id : all.cases) {
    if (std::ranges::find(impls, id.at("impl")) == impls.end()) impls.push_back(id.at("impl"));
  }
  std::vector<std::string> found;
  for (const std::string& impl : impls) {
    found.push_back(growth_sentence(all, impl));
    found.push_back(peak_sentence(all, impl));
    found.push_back(gain_sentence(all, impl));
  }
  found.push_back(recomputing_sentence(all));
  found.push_back(memory_sentence(all));
  std::erase(found, "");
  return found;
}

}  // namespace tbench::studies
