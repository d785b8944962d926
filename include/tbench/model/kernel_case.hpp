// The models' operations that move memory rather than multiply matrices, one at a time, at the models' shapes: what the
// Kernel family builds. Free of LibTorch in its interface.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/case.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/core/work.hpp"
#include "tbench/model/device.hpp"

namespace tbench::model {

/// `forward` keeps nothing for a backward; `backward` is timed alone, from what one forward pass left.
enum class KernelPass { kForward, kBackward };

[[nodiscard]] std::string_view to_string(KernelPass pass);
[[nodiscard]] std::optional<KernelPass> parse_kernel_pass(std::string_view text);

struct KernelConfig {
  std::string op;          // "rmsnorm": see src/model/operations/kernels/implementation.hpp
  ModelSize size;          // extents > 0
  std::int64_t context{};  // tokens per sequence, > 0
  std::int64_t batch{};    // sequences, > 0
  KernelPass pass{};
  Precision precision{};  // the storage type of everything but tables, token ids and what the operation says
  std::string impl;
  DeviceKind device{};
  std::uint64_t seed{};

  [[nodiscard]] std::int64_t tokens() const { return batch * context; }
};

/// Traffic that no implementation can avoid: every input read once, every output written once. What an implementation
/// saves between its own kernels, or from forward to backward, is not counted.
struct KernelBytes {
  std::int64_t read{};
  std::int64_t written{};
  bool operator==(const KernelBytes&) const = default;
};

/// The ceiling of the bytes: `read` or `write` where more than three quarters of them go that way, else `copy`.
[[nodiscard]] std::string kernel_ceiling(const KernelBytes& bytes);

/// All operations, in order.
[[nodiscard]] std::vector<std::string> kernel_op_names();
/// Implementations of all operations, without duplicates.
[[nodiscard]] std::vector<std::string> kernel_impl_names();

/// The passes and precisions of an operation.
struct KernelVariants {
  std::vector<KernelPass> passes;     // those that launch anything
  std::vector<Precision> precisions;  // those that a model runs it in
  std::vector<std::string> impls;
  bool counts_tokens{};  // its work grows with batch and context
};

/// @throws  UsageError  for an unknown operation
[[nodiscard]] KernelVariants kernel_variants(std::string_view op);

/// Why the combination is invalid on every machine, or nothing: an unknown operation or implementation, a pass that
/// launches nothing, a precision in which the models never run the operation.
[[nodiscard]] std::optional<std::string> kernel_invalid_reason(std::string_view op, KernelPass pass,
                                                               Precision precision, std::string_view impl);

/// Returns the bytes by the formula of the operation, which stands in its file in src/model/operations/kernels/.
/// @throws  UsageError  for an unknown operation
[[nodiscard]] KernelBytes kernel_bytes(const KernelConfig& config);

/// Verified against float64 of the formulas (verify_kernel); verify_again() refills inputs and gradients in place.
/// @throws  UsageError  for an invalid combination, or an extent that is not positive
[[nodiscard]] std::unique_ptr<Case> make_kernel_case(KernelConfig config);

}  // namespace tbench::model
