#include "tbench/core/step_counts.hpp"

#include <algorithm>

namespace tbench {
namespace {

constexpr std::int64_t kFloatBytes = 4;

/// The number of layers, and the number of elements of one tensor of each kind.
struct Extents {
  std::int64_t layers, stream, hidden, turned, logits, embeddings;  // turned: q and k together
  std::int64_t element;                                             // bytes of an element outside the residual stream
};

std::int64_t forward_bytes(const Extents& n, bool has_loss) {
  const std::int64_t norms = 2 * n.layers + 1;
  const std::int64_t embedding = 2 * kFloatBytes * n.stream;
  const std::int64_t additions = 2 * n.layers * (n.element + kFloatBytes) * n.stream;  // branch read, stream written
  const std::int64_t norm = norms * (kFloatBytes + n.element) * n.stream;
  const std::int64_t rope = n.layers * 2 * n.element * n.turned;  // q and k, read and written, also with their norm
  const std::int64_t swiglu = n.layers * 3 * n.element * n.hidden;
  return embedding + additions + norm + rope + swiglu + (has_loss ? n.element * n.logits : 0);
}

std::int64_t backward_bytes(const Extents& n) {
  const std::int64_t norms = 2 * n.layers + 1;
  const std::int64_t loss = n.element * n.logits;  // the gradient, written over the logits
  const std::int64_t norm = norms * (n.element + 2 * kFloatBytes) * n.stream;
  const std::int64_t additions = 2 * n.layers * (kFloatBytes + n.element) * n.stream;  // of gradients
  const std::int64_t rope = n.layers * 2 * n.element * n.turned;
  const std::int64_t swiglu = n.layers * 6 * n.element * n.hidden;  // the product of the two branches is computed again
  const std::int64_t embedding = kFloatBytes * (n.stream + n.embeddings);
  return loss + norm + additions + rope + swiglu + embedding;
}

/// Returns the bytes that the optimizer reads and writes for one parameter. A gradient has 2 bytes in bf16, since a
/// matrix product leaves no more of its bits than bf16 has. It has 4 bytes in fp16: stored in fp16, it would underflow
/// after the division by the loss scale.
std::int64_t optimizer_bytes(Precision precision) {
  const std::int64_t gradient = precision == Precision::kBf16 ? 2 : kFloatBytes;
  const std::int64_t copy = storage_bytes(precision) < kFloatBytes ? storage_bytes(precision) : 0;
  return 6 * kFloatBytes + gradient + copy;
}

constexpr double kMaxOfATime = 1.02;  // measurement errors explain smaller ratios of the two times

/// Returns the device time of a record with a trace, converted to the clock of its timed steps. Only a part of a step
/// scales with the SM clock. Therefore the conversion to a slower clock makes the device time at most as long as the
/// timed step.
Seconds time_at_timed_clock(const Record& record) {
  const std::optional<Hertz> timed = record.device ? record.device->sm_clock_counted : std::nullopt;
  const std::optional<Hertz> traced = record.trace->sm_clock_counted;
  const Seconds as_traced = record.trace->device;
  if (!timed || !traced || timed->value <= 0) return as_traced;
  const Seconds scaled = as_traced * (traced->value / timed->value);
  return scaled < as_traced ? scaled : std::max(as_traced, std::min(scaled, record.timing->median));
}

/// Returns the GPU's own time plus the gaps of its queue. Returns nullopt for bursts and without a device time.
std::optional<Seconds> busy_time(const Record& record) {
  const std::optional<Seconds> device = device_time(record);
  if (!device || record.timing->regime != Regime::kSustained) return std::nullopt;
  return *device + std::max(record.queue_gap.value_or(kQueueGap), kQueueGap) * operations_per_step(*record.trace);
}

bool is_caught_up(const Timing& timing) { return timing.drain && *timing.drain < timing.median * kHostBoundDrain; }

bool exchanges(const StepTrace& trace) {
  return std::ranges::any_of(trace.kernels, [](const TracedKernel& of) { return of.kernel_class == "collective"; });
}

}  // namespace

std::int64_t storage_bytes(Precision precision) {
  return precision == Precision::kBf16 || precision == Precision::kFp16 ? 2 : kFloatBytes;
}

StepFloor model_step_floor(const ModelSize& size, std::int64_t context, std::int64_t batch, Pass pass,
                           Precision precision) {
  const Work work = model_step_work(size, context, batch, pass);
  const AttentionShape shape{.batch = batch,
                             .heads = size.num_heads,
                             .seq_q = context,
                             .seq_kv = context,
                             .head_dim = size.head_dim(),
                             .causal = true};
  const bool has_backward = pass != Pass::kForward;
  const AttentionPass attention = has_backward ? AttentionPass::kForwardBackward : AttentionPass::kForward;
  StepFloor floor;
  floor.attention = attention_work(shape, attention).flop * static_cast<double>(size.num_layers);
  floor.products = Flop{work.flop.value - floor.attention.value};

  const std::int64_t element = storage_bytes(precision);
  const Extents extents{.layers = size.num_layers,
                        .stream = work.tokens * size.d_model,
                        .hidden = work.tokens * size.d_ff,
                        .turned = work.tokens * (size.q_width() + size.kv_width()),
                        .logits = work.tokens * size.vocab_size,
                        .embeddings = size.vocab_size * size.d_model,
                        .element = element};
  floor.other_bytes = forward_bytes(extents, has_backward) + (has_backward ? backward_bytes(extents) : 0);
  if (pass == Pass::kTrainStep) {
    floor.optimizer_bytes = optimizer_bytes(precision) * parameter_count(size);
  }
  return floor;
}

bool trace_disagrees(const Record& record) {
  return record.trace && record.timing && time_at_timed_clock(record) > record.timing->median * kMaxOfATime;
}

std::optional<Seconds> device_time(const Record& record) {
  if (!record.trace || !record.timing || trace_disagrees(record)) return std::nullopt;
  return time_at_timed_clock(record);
}

std::optional<double> idle_share(const Record& record) {
  const std::optional<Seconds> device = device_time(record);
  return device ? std::optional{1 - *device / record.timing->median} : std::nullopt;
}

std::optional<Seconds> measured_queue_gap(const Record& record) {
  const std::optional<Seconds> device = device_time(record);
  if (!device || record.timing->regime != Regime::kSustained || is_caught_up(*record.timing)) return std::nullopt;
  const double operations = operations_per_step(*record.trace);
  if (operations <= 0) return std::nullopt;
  return (record.timing->median - *device) / operations;
}

std::optional<double> host_share(const Record& record) {
  const std::optional<Seconds> busy = busy_time(record);
  return busy ? std::optional{1 - *busy / record.timing->median} : std::nullopt;
}

std::optional<Seconds> launch_budget(const Record& record) {
  const std::optional<Seconds> busy = busy_time(record);
  return busy && record.trace->launches > 0 ? std::optional{*busy / record.trace->launches} : std::nullopt;
}

bool is_host_bound(const Record& record) {
  const std::optional<double> share = host_share(record);
  if (!share) return record.timing->host_bound;
  return *share > kHostBoundShare || (is_caught_up(*record.timing) && exchanges(*record.trace));
}

}  // namespace tbench
