// The Attention family: softmax(scale q k^T) v by itself, forward, backward and both, by shape, mask, precision and
// implementation, for the course's grid, the models' shapes and long sequences.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/families/family.hpp"
#include "bench/families/kernel_path.hpp"
#include "bench/families/sustained.hpp"
#include "tbench/core/work.hpp"
#include "tbench/model/attention_case.hpp"

namespace tbench::bench::attention_family {
namespace {

using Values = std::vector<std::string>;

const std::string kDeterministic = "deterministic";
const std::string kKvHeads = "kv_heads";
constexpr const char* kAsManyHeads = "0";  // names omit it: k and v have as many heads as q
const Values kAllPasses{"forward", "backward", "forward_backward"};
const Values kEnds{"forward", "forward_backward"};

Values impls(Precision precision) { return model::attention_impl_names(precision); }

struct Shapes {
  Values batch, heads, d_model, seq_len, causal;
};

std::vector<Axis> axes(const Shapes& shapes, Values pass, Values precision, Values impl) {
  return {{"batch", shapes.batch},
          {"heads", shapes.heads},
          {"d_model", shapes.d_model},
          {"seq_len", shapes.seq_len},
          {"causal", shapes.causal},
          {"pass", std::move(pass)},
          {"precision", std::move(precision)},
          {"impl", std::move(impl)},
          {kKvHeads, {kAsManyHeads}, kAsManyHeads},
          regime_axis()};
}

/// Adds one table per precision, because each precision has different implementations.
void add(std::vector<CaseTable>& tables, const std::string& name, Suite suite, bool is_course_grid,
         const Shapes& shapes, const Values& passes, std::initializer_list<Precision> precisions) {
  for (const Precision precision : precisions) {
    tables.push_back(
        {name, suite, is_course_grid, axes(shapes, passes, {std::string{to_string(precision)}}, impls(precision))});
  }
}

/// Returns heads and d_model of the course's models, batch 4, causal. Each model is one entry, because its heads and
/// d_model belong together.
std::vector<Shapes> model_shapes(const Values& contexts) {
  std::vector<Shapes> shapes;
  for (const ModelSize& size : course_model_sizes()) {
    shapes.push_back({{"4"}, {fmt::format("{}", size.num_heads)}, {fmt::format("{}", size.d_model)}, contexts, {"1"}});
  }
  return shapes;
}

constexpr std::initializer_list<Precision> kCoursePrecisions{Precision::kFp32, Precision::kTf32, Precision::kBf16};

void add_smoke(std::vector<CaseTable>& tables) {
  const Shapes shapes{{"2"}, {"2"}, {"64"}, {"96"}, {"1"}};
  tables.push_back(
      {"course", Suite::kSmoke, true, axes(shapes, kAllPasses, {"fp32", "bf16"}, model::attention_impl_names())});
  tables.push_back(
      {"full_mask", Suite::kSmoke, false,
       axes({{"2"}, {"2"}, {"64"}, {"96"}, {"0"}}, {"forward_backward"}, {"fp32"}, model::attention_impl_names())});
}

/// Heads of q and of k and v, and d_model, of published models, and two extremes of sharing.
struct GroupedHeads {
  const char *heads, *kv_heads, *d_model;
};
constexpr std::array kGroupedHeads{GroupedHeads{"32", "8", "4096"}, GroupedHeads{"24", "8", "3072"},
                                   GroupedHeads{"16", "8", "2048"}, GroupedHeads{"32", "2", "4096"},
                                   GroupedHeads{"32", "1", "4096"}, GroupedHeads{"32", "8", "2048"}};
const Values kGroupedImpls{"flash", "sdpa_cudnn", "sdpa_flash"};

/// Adds grouped-query attention in bf16, batch 1. Without a mask and at the power limit only in the suite `full`.
void add_grouped(std::vector<CaseTable>& tables, Suite suite, const GroupedHeads& of, const Values& seq_len,
                 const Values& causal, const Values& passes, const Values& regimes) {
  std::vector<Axis> all = axes({{"1"}, {of.heads}, {of.d_model}, seq_len, causal}, passes, {"bf16"}, kGroupedImpls);
  all[all.size() - 2] = {kKvHeads, {of.kv_heads}, kAsManyHeads};
  all.back() = regime_axis(regimes);
  tables.push_back({"grouped", suite, false, std::move(all)});
}

/// Adds the most common cases: the usual head dimensions, causal, in bf16; the effect of the precision; the models.
void add_standard(std::vector<CaseTable>& tables) {
  add(tables, "course", Suite::kStandard, true, {{"8"}, {"1"}, {"64", "128"}, {"1024", "4096", "16384"}, {"1"}}, kEnds,
      {Precision::kBf16});
  add(tables, "precision", Suite::kStandard, false, {{"8"}, {"1"}, {"64"}, {"1024", "4096"}, {"1"}}, kEnds,
      {Precision::kFp32, Precision::kTf32});
  for (const Shapes& shapes : model_shapes({"512"})) {
    add(tables, "models", Suite::kStandard, false, shapes, {"forward_backward"}, {Precision::kBf16});
  }
  add_grouped(tables, Suite::kStandard, kGroupedHeads.front(), {"4096"}, {"1"}, {"forward_backward"}, {"burst"});
}

/// Adds cases that show the cost of bitwise reproducibility. A name has the key only if its value is 1.
void add_deterministic(std::vector<CaseTable>& tables) {
  const Shapes shapes{{"8"}, {"1"}, {"64", "128"}, {"1024", "4096", "16384"}, {"1"}};
  for (const Precision precision : {Precision::kBf16, Precision::kFp32}) {
    std::vector<Axis> all = axes(shapes, {"backward"}, {std::string{to_string(precision)}},
                                 model::deterministic_attention_impl_names(precision));
    all.insert(all.end() - 1, {kDeterministic, {"1"}});  // before the regime
    tables.push_back({"deterministic", Suite::kFull, true, std::move(all)});
  }
}

/// Adds cases at the power limit, whose operands do not fit in the L2 cache.
void add_sustained(std::vector<CaseTable>& tables) {
  std::vector<Axis> all = axes({{"8"}, {"16"}, {"1024", "2048"}, {"4096", "16384"}, {"1"}}, {"forward", "backward"},
                               {"bf16"}, {"flash", "sdpa_cudnn", "sdpa_flash"});
  all.back() = regime_axis({"sustained"});
  tables.push_back({"sustained", Suite::kFull, false, std::move(all)});
}

void add_grouped(std::vector<CaseTable>& tables) {
  for (const GroupedHeads& of : kGroupedHeads) {
    add_grouped(tables, Suite::kFull, of, {"512", "1024", "2048", "4096", "8192", "16384"}, {"0", "1"},
                {"forward", "backward"}, {"burst"});
    add_grouped(tables, Suite::kFull, of, {"8192", "16384"}, {"0", "1"}, {"forward", "backward"}, {"sustained"});
  }
}

void add_full(std::vector<CaseTable>& tables) {
  const Values course_lengths{"64", "128", "256", "1024", "4096", "8192", "16384"};
  add(tables, "course", Suite::kFull, true,
      {{"8"}, {"1"}, {"16", "32", "64", "128", "256", "512"}, course_lengths, {"0", "1"}}, kAllPasses,
      kCoursePrecisions);
  for (const Shapes& shapes : model_shapes({"128", "256", "512", "1024"})) {
    add(tables, "models", Suite::kFull, false, shapes, kAllPasses, {Precision::kBf16});
    // Run backward by itself only in the models' usual precision: forward_backward already times it as a phase.
    add(tables, "models", Suite::kFull, false, shapes, kEnds, {Precision::kFp32, Precision::kTf32});
  }
  // Long sequences. 16 heads with 65536 tokens take seconds per step in float32, and run only with --tb_axis.
  const Shapes one_head{{"1"}, {"1"}, {"64", "128"}, {"4096", "16384", "65536"}, {"1"}};
  add(tables, "long", Suite::kFull, false, one_head, kAllPasses, kCoursePrecisions);
  const Shapes heads{{"1"}, {"16"}, {"1024", "2048"}, {"4096", "16384"}, {"1"}};
  add(tables, "long", Suite::kFull, false, heads, kAllPasses, kCoursePrecisions);
  const Shapes longest{{"1"}, {"16"}, {"1024", "2048"}, {"65536"}, {"1"}};
  add(tables, "long", Suite::kFull, false, longest, kAllPasses, {Precision::kBf16});
  add_deterministic(tables);
  add_grouped(tables);
  add_sustained(tables);
}

std::vector<CaseTable> tables() {
  std::vector<CaseTable> all;
  add_smoke(all);
  add_standard(all);
  add_full(all);
  return all;
}

std::int64_t kv_heads_of(const CaseId& id) { return id.find(kKvHeads) == nullptr ? 0 : id.int_at(kKvHeads); }

std::optional<std::string> invalid_reason(const CaseId& id) {
  const std::int64_t heads = id.int_at("heads"), kv_heads = kv_heads_of(id);
  if (kv_heads == heads) {
    return fmt::format("kv_heads:{} is the number of heads, which names omit; leave kv_heads out", kv_heads);
  }
  if (kv_heads > 0 && heads % kv_heads != 0) {
    return fmt::format("kv_heads:{} does not divide heads:{}: each head of k and v serves as many heads of q", kv_heads,
                       heads);
  }
  if (id.int_at("d_model") % heads == 0) return std::nullopt;
  return fmt::format("d_model {} is not a multiple of heads {}: d_model is heads x head_dim", id.at("d_model"),
                     id.at("heads"));
}

Values all_precisions() {
  Values names;
  for (const Precision precision : kAllOf<Precision>) names.emplace_back(to_string(precision));
  return names;
}

bool is_deterministic(const CaseId& id) {
  return std::ranges::find(id.parameters(), CaseId::Parameter{kDeterministic, "1"}) != id.parameters().end();
}

Precision precision_of_case(const CaseId& id) { return parse_enum<Precision>(id.at("precision")).value(); }

/// Whether the case computes each float32 product as three TF32 products. Neither cuBLAS's float32 rate nor the
/// datasheet's limits such a case, so that it has no ceiling and no MFU.
bool computes_fp32_in_tf32(const CaseId& id) {
  const std::string& impl = id.at("impl");
  return precision_of_case(id) == Precision::kFp32 && (impl == "flash" || impl == "sdpa_efficient");
}

std::optional<std::string> ceiling_of_case(const CaseId& id) {
  if (computes_fp32_in_tf32(id)) return std::nullopt;
  return "gemm_" + id.at("precision");
}

std::optional<Precision> datasheet_precision(const CaseId& id) {
  if (computes_fp32_in_tf32(id)) return std::nullopt;
  return precision_of_case(id);
}

model::AttentionConfig config_of_case(const CaseId& id, const CaseContext& context) {
  const std::int64_t seq_len = id.int_at("seq_len");
  return {.shape = {.batch = id.int_at("batch"),
                    .heads = id.int_at("heads"),
                    .seq_q = seq_len,
                    .seq_kv = seq_len,
                    .head_dim = id.int_at("d_model") / id.int_at("heads"),
                    .causal = id.at("causal") == "1",
                    .kv_heads = kv_heads_of(id)},
          .pass = parse_enum<AttentionPass>(id.at("pass")).value(),
          .precision = precision_of_case(id),
          .impl = id.at("impl"),
          .deterministic = is_deterministic(id),
          .device = context.on_gpu ? model::DeviceKind::kCuda : model::DeviceKind::kCpu,
          .seed = context.seed,
          .packages = context.packages};
}

/// Returns an observer that records the kernels of one step and compares them with those that `impl` has to run.
model::KernelObserver kernel_observer(const std::string& impl) {
  return [impl](Case& built, std::string_view mark) -> std::optional<model::ObservedKernels> {
    const std::optional<StepKernels> kernels = record_kernels(built);
    if (!kernels) return std::nullopt;
    return model::ObservedKernels{.names = to_string(*kernels), .fault = missing_kernel(impl, mark, *kernels)};
  };
}

Family make_family(std::span<const ModelSize> /*extra_sizes*/) {
  return {.spec = {.name = "Attention",
                   .keys = {{"batch", {}},
                            {"heads", {}},
                            {"d_model", {}},
                            {"seq_len", {}},
                            {"causal", {"0", "1"}},
                            {"pass", kAllPasses},
                            {"precision", all_precisions()},
                            {"impl", model::attention_impl_names()},
                            {kKvHeads, {}},
                            {kDeterministic, {"1"}},
                            regime_key()},
                   .tables = tables(),
                   .invalid_reason = &invalid_reason,
                   .regime = Regime::kBurst},
          .make_case = [](const CaseId& id, const CaseContext& context) -> std::unique_ptr<Case> {
            return model::make_attention_case(config_of_case(id, context), kernel_observer(id.at("impl")));
          },
          .precision = &datasheet_precision,
          .ceiling = &ceiling_of_case,
          .prescribe = &prescribe_sustained};
}

TBENCH_REGISTER(RegisteredFamily, {.name = "Attention", .order = 20, .make = &make_family});

}  // namespace
}  // namespace tbench::bench::attention_family
