#include "tbench/profile/product_precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tbench/profile/kernel_name.hpp"

namespace tbench::profile {
namespace {

struct Mark {
  std::string_view text;
  std::optional<ProductPrecision> precision;
};

// The first one that a name contains decides.
constexpr std::array kMarks{
    Mark{"bf16x9", std::nullopt},  // float32 emulated by nine products
    Mark{"e4m3", ProductPrecision::k8Bit},
    Mark{"e5m2", ProductPrecision::k8Bit},
    Mark{"fp8", ProductPrecision::k8Bit},
    Mark{"tf32", ProductPrecision::kTf32},
    Mark{"bf16", ProductPrecision::k16Bit},
    Mark{"f16", ProductPrecision::k16Bit},
    Mark{"fp16", ProductPrecision::k16Bit},
    Mark{"bfloat16", ProductPrecision::k16Bit},
    Mark{"__half", ProductPrecision::k16Bit},
    Mark{"h884", ProductPrecision::k16Bit},
    Mark{"h1688", ProductPrecision::k16Bit},
    Mark{"h16816", ProductPrecision::k16Bit},
    Mark{"hgemm", ProductPrecision::k16Bit},
    Mark{"s1688gemm", ProductPrecision::kTf32},  // a tensor core's product of float32, its type not named
    Mark{"f32f32_f32f32", ProductPrecision::kFp32},
    Mark{"ffma", ProductPrecision::kFp32},
    Mark{"sgemm", ProductPrecision::kFp32},
    Mark{"gemmSN_TN_kernel<float", ProductPrecision::kFp32},
    Mark{"gemmSN_NN_kernel<float", ProductPrecision::kFp32},
};

/// nvjet_sm90_tst_...: the letters behind the architecture are those of the types, the inputs' first.
std::optional<ProductPrecision> of_nvjet(std::string_view name) {
  name.remove_prefix(std::string_view{"nvjet_"}.size());
  if (name.starts_with("sm")) name.remove_prefix(std::min(name.find('_'), name.size() - 1) + 1);
  switch (name.empty() ? '\0' : name.front()) {
    case 'h':
    case 't':
      return ProductPrecision::k16Bit;
    case 'q':
    case 'o':
      return ProductPrecision::k8Bit;
    default:
      return std::nullopt;
  }
}

std::string_view text_of(ProductPrecision precision) {
  constexpr std::array<std::string_view, 4> kTexts{"float32", "TF32", "16 bits", "8 bits"};
  return kTexts.at(static_cast<std::size_t>(precision));
}

ProductPrecision expected_of(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return ProductPrecision::kFp32;
    case Precision::kTf32:
      return ProductPrecision::kTf32;
    case Precision::kBf16:
    case Precision::kFp16:
      break;
  }
  return ProductPrecision::k16Bit;
}

}  // namespace

std::optional<ProductPrecision> product_precision(std::string_view kernel) {
  if (const auto nvjet = kernel.find("nvjet_"); nvjet != std::string_view::npos) return of_nvjet(kernel.substr(nvjet));
  const auto mark =
      std::ranges::find_if(kMarks, [&](const Mark& one) { return kernel.find(one.text) != std::string_view::npos; });
  return mark == kMarks.end() ? std::nullopt : mark->precision;
}

std::optional<std::string> product_problem(const StepTrace& step, Precision precision) {
  const ProductPrecision expected = expected_of(precision);
  const TracedKernel* other = nullptr;
  bool is_told = true;
  bool is_there = false;
  for (const TracedKernel& kernel : step.kernels) {
    if (kernel.kernel_class != "gemm") continue;
    const auto found = product_precision(kernel.name);
    is_told = is_told && found;
    is_there = is_there || found == expected;
    if (found && found != expected && other == nullptr) other = &kernel;
  }
  if (other == nullptr) return std::nullopt;
  // More than was asked costs time and is right; less than float32 is another result. So of float32 each one counts.
  if (precision != Precision::kFp32 && (is_there || !is_told)) return std::nullopt;
  return fmt::format(
      "precision:{}: {} multiplies in {}{}", to_string(precision), kernel_name(other->name),
      text_of(*product_precision(other->name)),
      precision == Precision::kFp32 ? "" : fmt::format(", and no matrix product of the step in {}", text_of(expected)));
}

}  // namespace tbench::profile
