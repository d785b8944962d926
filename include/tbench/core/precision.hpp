// The arithmetic a case computes in, as the `precision` key of a name spells it.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace tbench {

/// `fp32` has TF32 off; `tf32` is float32 storage with TF32 matrix products. `bf16` and `fp16` of a model are
/// autocast over float32 parameters (fp16 with loss scaling in the training step); of a single kernel they are the
/// storage type.
enum class Precision { kFp32, kTf32, kBf16, kFp16 };

inline constexpr std::array kAllPrecisions{Precision::kFp32, Precision::kTf32, Precision::kBf16, Precision::kFp16};

[[nodiscard]] std::string_view to_string(Precision precision);
/// @return  the precision that `text` names, or nothing
[[nodiscard]] std::optional<Precision> parse_precision(std::string_view text);
/// Unit round-off of the matrix products' inputs (2^-24, 2^-11, 2^-8, 2^-11): half the gap between 1 and the next
/// number.
[[nodiscard]] double unit_roundoff(Precision precision);

}  // namespace tbench
