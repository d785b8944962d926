// Cases of the Kernel family: one operation of the models, at the models' shapes. All but linear_cross_entropy move
// memory rather than multiply matrices. The interface is free of LibTorch.
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

/// `forward` keeps nothing for a backward pass; `backward` is timed alone, with the tensors that one forward pass has
/// saved.
enum class KernelPass { kForward, kBackward };

[[nodiscard]] std::string_view to_string(KernelPass pass);
[[nodiscard]] std::optional<KernelPass> parse_kernel_pass(std::string_view text);

struct KernelConfig {
  std::string op;          // "rmsnorm", ...: see src/model/operations/kernels/implementation.hpp
  ModelSize size;          // extents > 0
  std::int64_t context{};  // tokens per sequence, > 0
  std::int64_t batch{};    // sequences, > 0
  KernelPass pass{};
  Precision precision{};  // storage type; tables, token ids and tensors that the operation names have their own
  std::string impl;
  DeviceKind device{};
  std::uint64_t seed{};

  [[nodiscard]] std::int64_t tokens() const { return batch * context; }
};

/// Memory traffic that no implementation can avoid: every input read once, every output written once. Tensors that an
/// implementation saves between its own kernels, or from forward to backward, are not counted.
struct KernelBytes {
  std::int64_t read{};
  std::int64_t written{};
  bool operator==(const KernelBytes&) const = default;
};

/// Returns the ceiling to compare the bytes with: `read` or `write` if more than three quarters of the bytes are read
/// or written, otherwise `copy`.
[[nodiscard]] std::string kernel_ceiling(const KernelBytes& bytes);
/// Returns the ceiling of a case: the rate of matrix products in its precision if the operation has products, otherwise
/// the ceiling of its bytes.
/// @throws  UsageError  for an unknown operation
[[nodiscard]] std::string kernel_ceiling(const KernelConfig& config);
/// Whether matrix products limit an operation. Its Work then counts FLOP instead of bytes.
/// @throws  UsageError  for an unknown operation
[[nodiscard]] bool has_products(std::string_view op);

/// Returns the names of all operations, in order.
[[nodiscard]] std::vector<std::string> kernel_op_names();
/// Returns the names of the implementations of all operations, without duplicates.
[[nodiscard]] std::vector<std::string> kernel_impl_names();

/// The valid passes, precisions and implementations of an operation.
struct KernelVariants {
  std::vector<KernelPass> passes;     // passes that launch a kernel
  std::vector<Precision> precisions;  // precisions in which a model runs the operation
  std::vector<std::string> impls;
  bool counts_tokens{};  // whether its work grows with batch and context
};

/// Returns the variants of an operation.
/// @throws  UsageError  for an unknown operation
[[nodiscard]] KernelVariants kernel_variants(std::string_view op);

/// Returns why the combination is invalid on every machine, or nullopt if it is valid. Reasons: an unknown operation or
/// implementation, a pass that launches nothing, a precision in which the models never run the operation.
[[nodiscard]] std::optional<std::string> kernel_invalid_reason(std::string_view op, KernelPass pass,
                                                               Precision precision, std::string_view impl);

/// Returns the bytes by the operation's formula, which its file in src/model/operations/kernels/ defines.
/// @throws  UsageError  for an unknown operation
[[nodiscard]] KernelBytes kernel_bytes(const KernelConfig& config);

/// Makes a Kernel case. Results are verified against float64 of the formulas (verify_kernel); verify_again() refills
/// inputs and gradients in place.
/// @throws  UsageError  for an invalid combination, or an extent that is not positive
[[nodiscard]] std::unique_ptr<Case> make_kernel_case(KernelConfig config);

}  // namespace tbench::model
