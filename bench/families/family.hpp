// A benchmark family: its case tables and a factory for its cases. To add a family, add one file, which registers it.
// bench/retired.txt lists the cases in a suite's tables that run only on request.
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

/// The inputs, besides its name, from which a case is made.
struct CaseContext {
  bool on_gpu{};
  std::uint64_t seed{};
  std::string packages{};                 // folder of compiled graphs; may be empty
  std::optional<Seconds> context_time{};  // time the process took to make its CUDA context; absent on the CPU
  std::vector<ModelSize> model_sizes;     // the built-in sizes and the user's
  ranks::Group* group{};                  // group of the ranks that run the case together; null for a single process
};

struct Family {
  FamilySpec spec;
  std::function<std::unique_ptr<Case>(const CaseId&, const CaseContext&)> make_case;
  /// Returns the precision whose datasheet rate is the denominator of a case's MFU; nullopt if there is none. May be
  /// empty.
  std::function<std::optional<Precision>(const CaseId&)> precision;
  /// Returns the ceiling of a case: a `what` of the Ceiling family, which then runs first (--tb_ceilings) and becomes
  /// Work::ceiling. Nothing else decides it. Returns nullopt if there is none. May be empty.
  std::function<std::optional<std::string>(const CaseId&)> ceiling{};
  /// Overrides the command line's sampling options for a case. May be empty.
  std::function<void(const CaseId&, measure::SamplerOptions&)> prescribe{};
  /// Whether every case needs a process that has measured nothing before.
  bool needs_fresh_process{};
  /// Whether all ranks run its cases together. Such cases need a launcher, and the key `gpus` is the number of ranks.
  bool spans_ranks{};
};

/// Sets ten samples after ten steps or launches of warm-up, unless the command line sets the numbers, for cases whose
/// main result is a number or a dtype rather than a time.
void prescribe_few_samples(const CaseId& id, measure::SamplerOptions& sampler);

/// Returns the built-in sizes and the sizes of the user.
[[nodiscard]] std::vector<ModelSize> known_model_sizes(std::span<const ModelSize> extra);

[[nodiscard]] std::vector<std::string> size_names(std::span<const ModelSize> sizes);

[[nodiscard]] std::vector<FamilySpec> specs_of(const std::vector<Family>& families);

/// Adapts the families to a run with `ranks` ranks. The cases of families that span ranks get that number as `gpus`.
/// Other families are left out: if every rank measured them, each would do so under the load of the others.
[[nodiscard]] std::vector<Family> for_ranks(std::vector<Family> families, int ranks);

/// Returns the family of a case.
/// @throws  std::out_of_range  if no family has the name
[[nodiscard]] const Family& family_of(const std::vector<Family>& families, const CaseId& id);

/// The entry that a family's file registers: TBENCH_REGISTER(RegisteredFamily, {...}).
struct RegisteredFamily {
  std::string name;  // name of Family::spec
  int order{};       // position among the families, and so among the cases of a suite
  /// Makes the family.
  /// @param extra_sizes  the user's model sizes (`--tb_size`), which join the built-in ones on the course grids
  Family (*make)(std::span<const ModelSize> extra_sizes);
};

/// Returns all families in their order.
[[nodiscard]] std::vector<Family> all_families(std::span<const ModelSize> extra_sizes);

/// Returns one family by name.
/// @throws  std::out_of_range  if no family has the name
[[nodiscard]] Family make_family(std::string_view name, std::span<const ModelSize> extra_sizes);

}  // namespace tbench::bench
