#include "tbench/core/precision.hpp"

#include <array>
#include <string_view>

namespace tbench {
namespace {

struct Row {
  Precision precision;
  std::string_view name;
  double unit_roundoff;  // 2^-(significand bits + 1), the hidden bit not counted: 23, 10, 7, 10
};

constexpr std::array kRows{
    Row{Precision::kFp32, "fp32", 0x1p-24},
    Row{Precision::kTf32, "tf32", 0x1p-11},
    Row{Precision::kBf16, "bf16", 0x1p-8},
    Row{Precision::kFp16, "fp16", 0x1p-11},
};

const Row& row_of(Precision precision) { return kRows.at(static_cast<std::size_t>(precision)); }

}  // namespace

std::string_view to_string(Precision precision) { return row_of(precision).name; }

std::optional<Precision> parse_precision(std::string_view text) {
  for (const Row& row : kRows) {
    if (row.name == text) return row.precision;
  }
  return std::nullopt;
}

double unit_roundoff(Precision precision) { return row_of(precision).unit_roundoff; }

}  // namespace tbench
