#include "model/torch/output_checker.hpp"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "model/torch/torch_case.hpp"
#include "tbench/cuda/device.hpp"

namespace tbench::model {

namespace {

constexpr const char* kReference = "float64 of the formulas, of the operands that the launches were given";

/// Persisting bytes of the GPU's L2 cache that note_persisting_l2_bytes() found.
std::optional<std::size_t> noted_persisting_l2_bytes;

std::optional<std::string> persisting_l2_fault() {
  const std::size_t bytes = cuda::persisting_l2_bytes();
  const std::size_t before = noted_persisting_l2_bytes.value_or(bytes);
  if (bytes == before) return std::nullopt;
  return fmt::format(
      "the step changes what is set aside of the L2 cache for persisting lines (cudaLimitPersistingL2CacheSize) from "
      "{} to {} bytes: no other implementation has them",
      before, bytes);
}

/// Returns the indexes of `count` launches in a hidden random order: comparisons that are too expensive for all
/// launches are made for the first ones.
std::vector<std::size_t> hidden_order(std::size_t count) {
  std::vector<std::size_t> places(count);
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::shuffle(places, hidden_generator());
  return places;
}

}  // namespace

void note_persisting_l2_bytes() {
  if (!noted_persisting_l2_bytes) noted_persisting_l2_bytes = cuda::persisting_l2_bytes();
}

void OutputChecker::begin() {
  launches_ = 0;
  kept_.reset();
}

void OutputChecker::draw_prepared(std::uint64_t key) const {
  if (subject_.prepare) draw_operands(subject_.prepared(), key, device_);
}

void OutputChecker::redraw() {
  keys_ = {.prepared = hidden_number(), .all = hidden_number(), .little = hidden_number()};
  with_out_of_memory_translated([this] {
    draw_prepared(keys_.prepared);
    if (subject_.prepare) subject_.prepare();
    draw_operands(subject_.operands(), keys_.all, device_, subject_.outputs());
  });
}

void OutputChecker::perturb() {
  with_out_of_memory_translated([this] { draw_a_little(subject_.operands(), keys_.little, device_); });
}

void OutputChecker::after() {
  with_out_of_memory_translated([this] {
    if (!kept_) kept_.emplace(device_, subject_.groups);
    kept_->add({.number = ++launches_, .keys = keys_, .hidden = hidden_number()}, subject_.outputs());
  });
}

/// Restores the operand values that a launch has read.
void OutputChecker::draw_again(const LaunchKeys& keys) const {
  draw_prepared(keys.prepared);
  const std::vector<DrawnOperand> operands = subject_.operands();
  draw_operands(operands, keys.all, device_);
  draw_a_little(operands, keys.little, device_);
}

std::string OutputChecker::name_of(std::uint32_t launch) const {
  return fmt::format("timed launch {} of {}", launch, launches_);
}

Verification OutputChecker::compared() const {
  const at::NoGradGuard no_grad;
  Comparison comparison;
  const std::vector<TimedLaunch> launches = kept_->compared(), digested = kept_->digested();
  std::size_t order = 0;
  for (const std::size_t place : hidden_order(launches.size())) {
    draw_again(launches[place].keys);
    subject_.compare_rows({.launch = name_of(launches[place].number),
                           .order = order++,
                           .group = kept_->group(place),
                           .rows = kept_->rows(place),
                           .values = kept_->values(place)},
                          comparison);
  }
  for (std::size_t place = 0; place < digested.size(); ++place) {
    draw_again(digested[place].keys);
    subject_.compare_digests({.launch = name_of(digested[place].number),
                              .hidden = digested[place].hidden,
                              .signs = kept_->signs(place),
                              .digests = kept_->digests(place)},
                             comparison);
  }
  Verification verdict = comparison.finish(kReference);
  const TimedLaunch launch = kept_->whole().value();
  draw_again(launch.keys);
  Verification whole = subject_.compare(kept_->outputs());
  if (!whole.passed) whole.message = fmt::format("{}: {}", name_of(launch.number), whole.message);
  return worse_of(std::move(verdict), std::move(whole));
}

Verification OutputChecker::verdict() {
  if (!kept_) throw std::logic_error{"an output checker has no verdict before it has seen a launch"};
  Verification verdict{
      .passed = false, .reference = kReference, .worst_error = kWorstErrorCap, .worst_where = "", .message = ""};
  with_out_of_memory_translated([&] {
    if (const auto bad = kept_->first_bad()) {
      verdict.worst_where = name_of(*bad);
      verdict.message =
          verdict.worst_where +
          " left elements of its outputs that are NaN or infinite, as all are before a launch, or outputs "
          "of another shape";
    } else {
      verdict = compared();
    }
    kept_.reset();
    if (subject_.prepare) subject_.prepare();  // the state that belongs to the current operands
  });
  if (!verdict.passed || device_ != DeviceKind::kCuda) return verdict;
  if (auto fault = persisting_l2_fault()) {
    verdict.passed = false;
    verdict.message = std::move(*fault);
  }
  return verdict;
}

}  // namespace tbench::model
