// Counts of a step: the work that a transformer's cannot do without, by what limits it, which is the lower end of the
// study `waterfall`, with the bytes of an element, which every such count needs; and the GPU's and the host's share of
// its time.
#pragma once

#include <cstdint>
#include <optional>

#include "tbench/core/enums.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/core/record.hpp"
#include "tbench/core/units.hpp"
#include "tbench/core/work.hpp"

namespace tbench {

/// Bytes of an element in memory: TF32 is stored as float32.
[[nodiscard]] std::int64_t storage_bytes(Precision precision);

/// Bytes of gradients that strategy:sharded_optimizer reduce-scatters at once: large enough for the links' full rate,
/// small beside what it saves. The DataParallel family and the prediction of its steps both count with it.
inline constexpr std::int64_t kScatterBytes = std::int64_t{128} << 20;

struct StepFloor {
  Flop products{};   // of the dense layers
  Flop attention{};  // its products
  /// AdamW over float32 weights and moments, read and written, the gradients, in 16 bits with bf16, and a copy of the
  /// weights in 16 bits where the step computes in those.
  std::int64_t optimizer_bytes{};
  /// Embedding, norms with the residual's addition, RoPE, SwiGLU and loss: what each reads and writes if it is one
  /// kernel. The residual stream is float32, as autocast has it; all else has the precision's type.
  std::int64_t other_bytes{};
};

/// Counted from the shape: FLOP as in model_step_work(), bytes with every input read once and every output written
/// once.
/// @param size     extents > 0
/// @param context  tokens per sequence, > 0
/// @param batch    sequences, > 0
/// @throws         std::invalid_argument if an extent is not positive
[[nodiscard]] StepFloor model_step_floor(const ModelSize& size, std::int64_t context, std::int64_t batch, Pass pass,
                                         Precision precision);

/// Time that passes between two operations of a step whose queue is never empty: 1.0 to 1.6 us in 271 steps on an H100.
/// A run's own gap, Record::queue_gap, takes its place where it is longer. It is shorter between kernels that write
/// nothing: 0.85 us on an H100 whose steps have 1.3 to 1.5.
inline constexpr Seconds kQueueGap{1.35e-6};
/// A step is host-bound where the host is longer at work than this share of it.
inline constexpr double kHostBoundShare = 0.03;
/// A step whose launches have less than this each is sensitive to its host.
inline constexpr Seconds kHostSensitiveBudget{25e-6};

/// The trace's device time exceeds the timed step's by over 2 %: traced and timed steps were not alike.
[[nodiscard]] bool trace_disagrees(const Record& record);

/// The GPU's own time in a timed step: the union of the traced operations, at the clock of the timed steps where cycles
/// were counted in both, but no longer for that than the step. Nothing without a trace, and where trace_disagrees().
[[nodiscard]] std::optional<Seconds> device_time(const Record& record);

/// The part of a timed step that is not device_time(); down to -0.02. Nothing without that.
[[nodiscard]] std::optional<double> idle_share(const Record& record);

/// The time between two operations of a chained step whose queue was never empty: median less device_time(), over the
/// operations. Nothing without a device time, and where the device had caught up with the host.
[[nodiscard]] std::optional<Seconds> measured_queue_gap(const Record& record);

/// Returns the host's share of a chained step: the part that is neither device_time() nor a gap of the queue. Nothing
/// for bursts and without a device time.
[[nodiscard]] std::optional<double> host_share(const Record& record);

/// The time in which the host has to make a launch so as not to hold the GPU up: device time and gaps, over launches.
/// Nothing as host_share().
[[nodiscard]] std::optional<Seconds> launch_budget(const Record& record);

/// The host limits the time: of a chained step host_share() is over kHostBoundShare, or it exchanges with other ranks
/// and its device had caught up with the host (a drain under kHostBoundDrain of the step), since an exchange's kernel
/// waits at work for the others' hosts. Where there is no host_share(): what was decided while it was measured.
/// @param record  has a time
[[nodiscard]] bool is_host_bound(const Record& record);

}  // namespace tbench
