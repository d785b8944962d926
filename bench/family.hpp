// What a benchmark family is to the program: its case tables, and how to make one of its cases. Adding a family is one
// file that returns a Family plus one line in families.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/case_table.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/core/precision.hpp"
#include "tbench/core/units.hpp"
#include "tbench/measure/case.hpp"
#include "tbench/measure/sampler.hpp"

namespace tbench::bench {

/// What a case is made with, besides its name.
struct CaseContext {
  bool on_gpu{};
  std::uint64_t seed{};
  std::string packages{};                 // folder of compiled graphs; empty: none
  std::optional<Seconds> context_time{};  // that the process took to make its CUDA context; absent on the CPU
  std::vector<ModelSize> model_sizes;     // the built-in ones and the user's
};

struct Family {
  FamilySpec spec;
  std::function<std::unique_ptr<measure::Case>(const CaseId&, const CaseContext&)> make_case;
  /// The precision whose datasheet rate a case is held against; nothing where there is none. May be empty.
  std::function<std::optional<Precision>(const CaseId&)> precision;
  /// What a case is held against: a `what` of the Ceiling family, of which that case runs first (--tb_ceilings) and
  /// whose name Work::ceiling then is. Nothing where there is none. May be empty.
  std::function<std::optional<std::string>(const CaseId&)> ceiling{};
  /// What a case prescribes of its own sampling, over the command line. May be empty.
  std::function<void(const CaseId&, measure::SamplerOptions&)> prescribe{};
  /// Every case is measured in a process that has measured nothing before.
  bool needs_fresh_process{};
};

/// The built-in sizes and the user's.
[[nodiscard]] std::vector<ModelSize> known_model_sizes(std::span<const ModelSize> extra);

[[nodiscard]] std::vector<FamilySpec> specs_of(const std::vector<Family>& families);

/// @throws  std::out_of_range  if there is no family of the case's name
[[nodiscard]] const Family& family_of(const std::vector<Family>& families, const CaseId& id);

}  // namespace tbench::bench
