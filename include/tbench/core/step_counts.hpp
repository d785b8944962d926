// Derives a step's figures: the model size that a case runs, the minimum work of a step by limiting resource (the floor
// in the study `waterfall`), and the shares of the step's time that the GPU and the host take.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tbench/core/case_id.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/core/record.hpp"
#include "tbench/core/units.hpp"
#include "tbench/core/work.hpp"

namespace tbench {

/// The key of a case's name that truncates the model to its first N layers (`layers:N`). Names of cases with all layers
/// lack it.
inline constexpr std::string_view kLayersKey = "layers";

/// Returns the size that a case runs: the size with the name that its key `size` has. With `layers:N`, only the first N
/// layers remain, between the same embedding, last norm and LM head, and the returned size is named `SIZE.layersN`.
/// Returns nullopt for a case without the key `size`, an unknown name, and an N that layers_invalid_reason() refuses.
[[nodiscard]] std::optional<ModelSize> model_size_of(const CaseId& id, std::span<const ModelSize> sizes);

/// Returns why a case's key `layers` is invalid, or nullopt if it is valid or absent. Its value is at least 1 and below
/// the size's number of layers: with that number, the case is the one without the key.
[[nodiscard]] std::optional<std::string> layers_invalid_reason(const CaseId& id, std::span<const ModelSize> sizes);

/// Returns the bytes per element in memory. TF32 is stored as float32.
[[nodiscard]] std::int64_t storage_bytes(Precision precision);

/// Bytes of gradients that strategy:sharded_optimizer reduce-scatters at once: large enough for the links' full rate,
/// and small compared with the memory that it saves. The DataParallel family and the prediction of its steps both use
/// it.
inline constexpr std::int64_t kScatterBytes = std::int64_t{128} << 20;

struct StepFloor {
  Flop products{};   // matrix products of the dense layers
  Flop attention{};  // matrix products of attention
  /// Bytes of AdamW: float32 weights and moments read and written, gradients read (16 bits with bf16), and a 16-bit
  /// copy of the weights written if the step computes in 16 bits.
  std::int64_t optimizer_bytes{};
  /// Bytes that embedding, norms with the residual's addition, RoPE, SwiGLU and loss read and write if each is one
  /// kernel. The residual stream is float32, as with autocast; all other tensors have the precision's type.
  std::int64_t other_bytes{};
};

/// Counts the minimum work of a step from its shape: FLOP as in model_step_work(), bytes with every input read once and
/// every output written once.
/// @param size     extents > 0
/// @param context  tokens per sequence, > 0
/// @param batch    sequences, > 0
/// @throws         std::invalid_argument if an extent is not positive
[[nodiscard]] StepFloor model_step_floor(const ModelSize& size, std::int64_t context, std::int64_t batch, Pass pass,
                                         Precision precision);

/// Time between two operations of a step whose queue is never empty: 1.0 to 1.6 us in 271 steps on an H100. A run's own
/// gap, Record::queue_gap, replaces it if that is longer. The gap is shorter between kernels that write nothing: 0.85
/// us on an H100 whose steps have gaps of 1.3 to 1.5 us.
inline constexpr Seconds kQueueGap{1.35e-6};
/// The host's share of a step above which the step is host-bound.
inline constexpr double kHostBoundShare = 0.03;
/// The time per launch below which a step is sensitive to its host.
inline constexpr Seconds kHostSensitiveBudget{25e-6};

/// Returns whether the trace's device time exceeds the timed step by over 2 %: traced and timed steps were not alike.
[[nodiscard]] bool trace_disagrees(const Record& record);

/// Returns the GPU's own time in a timed step: the union of the traced operations. If cycles were counted in both, it
/// is converted to the clock of the timed steps, but not to more than the step. Returns nullopt without a trace, or if
/// trace_disagrees().
[[nodiscard]] std::optional<Seconds> device_time(const Record& record);

/// Returns the share of a timed step outside device_time(), down to -0.02. Returns nullopt without a device time.
[[nodiscard]] std::optional<double> idle_share(const Record& record);

/// Returns the time between two operations of a chained step whose queue was never empty: (median - device_time()) /
/// operations. Returns nullopt without a device time, or if the device had caught up with the host.
[[nodiscard]] std::optional<Seconds> measured_queue_gap(const Record& record);

/// Returns the host's share of a chained step: the part that is neither device_time() nor a gap of the queue. Returns
/// nullopt for bursts and without a device time.
[[nodiscard]] std::optional<double> host_share(const Record& record);

/// Returns the time per launch that the host may take without delaying the GPU: (device time + gaps) / launches.
/// Returns nullopt if host_share() does.
[[nodiscard]] std::optional<Seconds> launch_budget(const Record& record);

/// Returns whether the host limits the time. A chained step is host-bound if host_share() is over kHostBoundShare. A
/// step that communicates with other ranks is also host-bound if its device had caught up with the host (a drain under
/// kHostBoundDrain of the step). Its host_share() is too low, because a communication kernel counts as busy while it
/// waits for the other hosts. Without a host_share(), returns Timing::host_bound.
/// @param record  record with a time
[[nodiscard]] bool is_host_bound(const Record& record);

}  // namespace tbench
