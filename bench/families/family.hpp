// A benchmark family for the program: its case tables, and how to make one of its cases; and the families of
// transformer_bench. Adding a family takes one file, which registers it. bench/retired.txt names the cases of the
// tables that a suite runs only where they are asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/case.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/case_table.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/core/registration.hpp"
#include "tbench/core/units.hpp"
#include "tbench/measure/sampler.hpp"
#include "tbench/ranks/group.hpp"

namespace tbench::bench {

/// The inputs, besides its name, that make a case.
struct CaseContext {
  bool on_gpu{};
  std::uint64_t seed{};
  std::string packages{};                 // folder of compiled graphs; empty: none
  std::optional<Seconds> context_time{};  // that the process took to make its CUDA context; absent on the CPU
  std::vector<ModelSize> model_sizes;     // the built-in ones and the user's
  ranks::Group* group{};                  // of the ranks that run the case together; null: one process by itself
};

struct Family {
  FamilySpec spec;
  std::function<std::unique_ptr<Case>(const CaseId&, const CaseContext&)> make_case;
  /// The precision whose datasheet rate is the denominator of a case's MFU; nothing where there is none. May be empty.
  std::function<std::optional<Precision>(const CaseId&)> precision;
  /// The ceiling of a case: a `what` of the Ceiling family, which runs first (--tb_ceilings) and whose name
  /// Work::ceiling then is. The only place that decides it. Nothing where there is none. May be empty.
  std::function<std::optional<std::string>(const CaseId&)> ceiling{};
  /// Overrides the command line's sampling options for a case. May be empty.
  std::function<void(const CaseId&, measure::SamplerOptions&)> prescribe{};
  /// Every case needs a process that has measured nothing before.
  bool needs_fresh_process{};
  /// Its cases are run by all ranks together, and by nobody else: the key `gpus` is their number.
  bool spans_ranks{};
};

/// Takes ten samples after ten steps or launches of warm-up, unless the command line says how many: for cases whose
/// result is a number or a dtype, which a time only accompanies.
void prescribe_few_samples(const CaseId& id, measure::SamplerOptions& sampler);

/// Returns the built-in sizes and the sizes of the user.
[[nodiscard]] std::vector<ModelSize> known_model_sizes(std::span<const ModelSize> extra);

[[nodiscard]] std::vector<FamilySpec> specs_of(const std::vector<Family>& families);

/// The families as they are when so many ranks run them: of those that span ranks every case has that many `gpus`, and
/// the others are left out, since each rank would measure them beside the others' load.
[[nodiscard]] std::vector<Family> for_ranks(std::vector<Family> families, int ranks);

/// @throws  std::out_of_range  if there is no family of the case's name
[[nodiscard]] const Family& family_of(const std::vector<Family>& families, const CaseId& id);

/// The entry that a family's file registers: TBENCH_REGISTER(RegisteredFamily, {...}).
struct RegisteredFamily {
  std::string name;  // Family::spec's
  int order{};       // of the families, and so of the cases of a suite
  /// @param extra_sizes  the user's model sizes (`--tb_size`), which join the built-in ones on the course grids
  Family (*make)(std::span<const ModelSize> extra_sizes);
};

/// Returns all families in their order.
[[nodiscard]] std::vector<Family> all_families(std::span<const ModelSize> extra_sizes);

/// Returns one of them.
/// @throws  std::out_of_range  if there is no family of the name
[[nodiscard]] Family make_family(std::string_view name, std::span<const ModelSize> extra_sizes);

}  // namespace tbench::bench
